// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/** The software provider: verbs carried out by the engine in this process, over ordinary sockets. */
@NullMarked
package io.sidewarp.provider.software;

import org.jspecify.annotations.NullMarked;
