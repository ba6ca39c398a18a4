// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/**
 * Streaming calls of grpc-java over TCP: messages are {@code google.protobuf.BytesValue}, transport and flow control
 * have their defaults, and callbacks run on the transport's threads.
 */
@NullMarked
package io.sidewarp.bench.end.grpc;

import org.jspecify.annotations.NullMarked;
