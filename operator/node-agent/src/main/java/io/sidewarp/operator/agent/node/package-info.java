// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0
/** What the node agent does all the time: looks, provisions, offers devices, and reports. */
@NullMarked
package io.sidewarp.operator.agent.node;

import org.jspecify.annotations.NullMarked;
