// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Objects that the controller creates and writes for the chart: the node agents, and the authorities in the webhook
 * configuration. Also the clean-up before the chart is uninstalled.
 */
@NullMarked
package io.sidewarp.operator.controller.installation;

import org.jspecify.annotations.NullMarked;
