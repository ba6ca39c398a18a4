// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import io.sidewarp.engine.llp.LowerLayer;
import io.sidewarp.engine.rdmap.RdmapStream;
import io.sidewarp.engine.rdmap.StreamSettings;

/** Makes the RDMAP stream of a connection when RDMA mode begins. Tests plug in a maker that fails. */
@FunctionalInterface
interface StreamMaker {

    RdmapStream make(LowerLayer lower, StreamSettings settings);
}
