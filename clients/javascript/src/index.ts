// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

// RDMA between pods: the JavaScript client of the Sidewarp sidecar. README.md begins with tasks.

export { Connection } from './connection.js';
export {
  ClosedError,
  RejectedError,
  SessionLostError,
  SidewarpError,
  UnconfirmedError,
  WorkError,
  type Code,
  type Retry,
} from './errors.js';
export type { SessionEvent } from './events.js';
export { Access, Llp } from './gen/sidewarp/v1/types_pb.js';
export { Incoming, Listener, type AcceptOptions, type ConnectionOptions, type ListenOptions } from './listener.js';
export { Queue } from './queue.js';
export { ManagedRegion, Region, RemoteAddress, SharedRegion, Slice, type Create, type Local } from './region.js';
export {
  connect,
  Session,
  type ConnectOptions,
  type DialOptions,
  type ManagedRegionOptions,
  type RegionOptions,
  type SessionOptions,
} from './session.js';
export { SharedReceives } from './shared-receives.js';
export { supervise, SupervisedSession, type SuperviseOptions } from './supervise.js';
export { Work, type Completion, type Remote } from './work.js';
