/** The export `./client`: a typed client for programs that buy, build or administer. */
export type { CallInput, CallReply, FileToSend, Pagination, ReceivedFile } from '../api/endpoints/calls.ts'
export type { FieldErrors } from '../api/failures.ts'
export {
  type Answer,
  type By,
  type Credentials,
  type Fetch,
  type Method,
  type Sending,
  type TransportOptions,
  UnreachableError,
} from './transport.ts'
export {
  type CallOptions,
  type Client,
  createClient,
  MarketplaceError,
  type Pages,
  type SignedOptions,
} from './typed-client.ts'
