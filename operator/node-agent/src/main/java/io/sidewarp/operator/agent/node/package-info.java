// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0
/** Main loop of the node agent: look, provision, offer devices, and report. */
@NullMarked
package io.sidewarp.operator.agent.node;

import org.jspecify.annotations.NullMarked;
