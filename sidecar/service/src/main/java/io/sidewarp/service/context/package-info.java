// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/** What the parts of one session have in common. */
@NullMarked
package io.sidewarp.service.context;

import org.jspecify.annotations.NullMarked;
