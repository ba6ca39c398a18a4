// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0
/** The operator of Sidewarp: policies, nodes, injection. */
@NullMarked
package io.sidewarp.operator.controller;

import org.jspecify.annotations.NullMarked;
