// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0
/** The controller of the operator: policies, nodes and injection. */
@NullMarked
package io.sidewarp.operator.controller;

import org.jspecify.annotations.NullMarked;
