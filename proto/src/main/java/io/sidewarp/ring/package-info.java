// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/** Layout of queues in shared memory, as docs/rings.md describes it. The sidecar and the Java client both use it. */
@NullMarked
package io.sidewarp.ring;

import org.jspecify.annotations.NullMarked;
