// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/** The client of the API server, for controller and node agent. */
@NullMarked
package io.sidewarp.operator.api.client;

import org.jspecify.annotations.NullMarked;
