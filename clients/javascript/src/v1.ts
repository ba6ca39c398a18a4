// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

// Messages and services of the contract, generated from proto/src/main/proto.

export * from './gen/sidewarp/v1/connection_pb.js';
export * from './gen/sidewarp/v1/device_pb.js';
export * from './gen/sidewarp/v1/memory_pb.js';
export * from './gen/sidewarp/v1/ring_pb.js';
export * from './gen/sidewarp/v1/shared_receive_queue_pb.js';
export * from './gen/sidewarp/v1/transfer_pb.js';
export * from './gen/sidewarp/v1/types_pb.js';
export { checked, type Init } from './messages.js';
