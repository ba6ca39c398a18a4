// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/** The sidecar: a process that offers the engine through gRPC. */
@org.jspecify.annotations.NullMarked
package io.sidewarp.service;
