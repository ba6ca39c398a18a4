// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/** Structures of Linux system calls that several modules use. */
@NullMarked
package io.sidewarp.engine.linux;

import org.jspecify.annotations.NullMarked;
