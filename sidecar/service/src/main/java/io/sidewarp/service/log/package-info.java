// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/** Lines of the log about what peers and callers cause: bounded in number, and with their text made harmless. */
@NullMarked
package io.sidewarp.service.log;

import org.jspecify.annotations.NullMarked;
