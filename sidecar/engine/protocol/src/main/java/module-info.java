// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/** The protocols of iWARP, without input and output: MPA, DDP and RDMAP. */
module io.sidewarp.engine.protocol {
    requires transitive io.sidewarp.engine.verbs;

    exports io.sidewarp.engine.ddp;
    exports io.sidewarp.engine.llp;
    exports io.sidewarp.engine.llp.mpa;
    exports io.sidewarp.engine.rdmap;
}
