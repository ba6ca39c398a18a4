// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/** Protection domains and regions of a session. Registration counts against the session's quotas. */
@NullMarked
package io.sidewarp.service.memory;

import org.jspecify.annotations.NullMarked;
