// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/** Calls of Linux through the Foreign Function and Memory API, with their structures and error numbers. */
@NullMarked
package io.sidewarp.engine.linux;

import org.jspecify.annotations.NullMarked;
