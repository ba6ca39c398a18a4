// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/**
 * Common parts of the command's two ends: hello, control messages, servers, test data. The Javadoc of each message has
 * its layout.
 */
@NullMarked
package io.sidewarp.cli.wire;

import org.jspecify.annotations.NullMarked;
