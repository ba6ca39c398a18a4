// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/**
 * What the command's two ends have in common: hello, control messages, servers, test data. docs/cli.md has the layouts
 * of the messages.
 */
@NullMarked
package io.sidewarp.cli.wire;

import org.jspecify.annotations.NullMarked;
