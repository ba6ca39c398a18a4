// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0
/** Events that people see with kubectl describe. */
@NullMarked
package io.sidewarp.operator.api.events;

import org.jspecify.annotations.NullMarked;
