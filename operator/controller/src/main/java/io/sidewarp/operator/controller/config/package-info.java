// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0
/** Settings of the controller. */
@NullMarked
package io.sidewarp.operator.controller.config;

import org.jspecify.annotations.NullMarked;
