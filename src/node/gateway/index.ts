/** The local gateway; exported by `stac-auth/node`. */
export {
  createGateway,
  type Gateway,
  type GatewayDocument,
  type GatewayListen,
  type GatewayOptions,
  type GatewayRequest,
  type GatewayTarget,
} from './gateway.ts'
export { readGatewayPath } from './gateway-url.ts'
