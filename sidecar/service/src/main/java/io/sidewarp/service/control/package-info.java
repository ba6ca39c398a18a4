// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/**
 * Control socket, for programs without gRPC. docs/control.md describes its records. A socket opens a session, and its
 * requests call the same parts of the session as the services of the gRPC API.
 */
@NullMarked
package io.sidewarp.service.control;

import org.jspecify.annotations.NullMarked;
