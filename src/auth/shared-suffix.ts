/** Hosts under which strangers can get a name or a path of their own; the list is kept by hand and errs on more. */

const SUFFIXES = (
  'amazonaws.com amazonaws.com.cn blob.core.windows.net dfs.core.windows.net file.core.windows.net web.core.windows.net ' +
  'azurewebsites.net azureedge.net azurefd.net cloudapp.azure.com cloudfront.net elasticbeanstalk.com storage.googleapis.com ' +
  'googleapis.com googleusercontent.com appspot.com run.app cloudfunctions.net web.app firebaseapp.com github.io ' +
  'githubusercontent.com gitlab.io bitbucket.io pages.dev workers.dev r2.dev r2.cloudflarestorage.com vercel.app netlify.app ' +
  'herokuapp.com onrender.com fly.dev railway.app ngrok.io ngrok.app ngrok-free.app trycloudflare.com digitaloceanspaces.com ' +
  'backblazeb2.com wasabisys.com your-objectstorage.com oraclecloud.com aliyuncs.com myqcloud.com surge.sh glitch.me repl.co ' +
  'co.uk org.uk ac.uk gov.uk com.au net.au org.au co.jp co.nz co.in com.br com.cn com.tr co.za co.kr'
).split(' ')

const HOSTS =
  /^(?:s3(?:[.-][a-z0-9-]+)*\.amazonaws\.com(?:\.cn)?|storage\.googleapis\.com|raw\.githubusercontent\.com|gist\.githubusercontent\.com)$/

/** True when anyone may own a name below that host, so that a wildcard there would trust strangers. */
export function isSharedSuffix(host: string): boolean {
  return SUFFIXES.some((suffix) => host === suffix || host.endsWith(`.${suffix}`) || suffix.endsWith(`.${host}`))
}

/** True when owners are told apart by the path, so that a grant needs one. */
export function isSharedHost(host: string): boolean {
  return HOSTS.test(host)
}
