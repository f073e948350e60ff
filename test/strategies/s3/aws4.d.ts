declare module 'aws4' {
  interface Request {
    readonly host: string
    readonly path: string
    readonly service: string
    readonly region: string
    readonly headers: Record<string, string>
  }
  interface Keys {
    readonly accessKeyId: string
    readonly secretAccessKey: string
    readonly sessionToken?: string
  }
  const aws4: { sign(request: Request, keys: Keys): { readonly headers: Readonly<Record<string, string>> } }
  export = aws4
}
