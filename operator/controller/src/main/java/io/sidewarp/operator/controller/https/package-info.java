// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/** HTTPS server for ports that strangers may reach. Connections, memory and time are bounded. */
@NullMarked
package io.sidewarp.operator.controller.https;

import org.jspecify.annotations.NullMarked;
