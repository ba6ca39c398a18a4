// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/** Log lines about what peers and callers cause. Their number is bounded, and text from outside is made harmless. */
@NullMarked
package io.sidewarp.service.log;

import org.jspecify.annotations.NullMarked;
