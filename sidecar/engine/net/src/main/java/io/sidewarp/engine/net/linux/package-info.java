// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/**
 * Linux socket calls that Netty lacks, through the Foreign Function and Memory API. Native code gets only addresses of
 * buffers of the I/O layer, never of a registered memory region.
 */
@NullMarked
package io.sidewarp.engine.net.linux;

import org.jspecify.annotations.NullMarked;
