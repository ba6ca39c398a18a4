// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0
/** The injection webhook: HTTPS server, certificate, and the facts for decisions. */
@NullMarked
package io.sidewarp.operator.controller.webhook;

import org.jspecify.annotations.NullMarked;
