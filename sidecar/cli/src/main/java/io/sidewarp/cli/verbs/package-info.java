// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/** The program of an injected init container: copies the verbs library from the sidecar's image into a volume. */
@NullMarked
package io.sidewarp.cli.verbs;

import org.jspecify.annotations.NullMarked;
