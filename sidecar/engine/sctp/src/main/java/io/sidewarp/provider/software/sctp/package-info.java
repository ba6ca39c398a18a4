// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/** SCTP as a lower layer of the software provider: endpoints, associations, and set-up of connections (RFC 5043). */
@NullMarked
package io.sidewarp.provider.software.sctp;

import org.jspecify.annotations.NullMarked;
