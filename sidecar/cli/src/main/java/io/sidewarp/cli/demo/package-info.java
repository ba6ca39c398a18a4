// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/** The demo: two sidecars and two clients on this machine. */
@NullMarked
package io.sidewarp.cli.demo;

import org.jspecify.annotations.NullMarked;
