// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0
/** The status page of the controller. */
@NullMarked
package io.sidewarp.operator.controller.status;

import org.jspecify.annotations.NullMarked;
