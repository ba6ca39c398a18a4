// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/** Verbs and registered memory: what applications use, and what every provider implements. */
module io.sidewarp.engine.verbs {
    requires transitive org.jspecify;
    requires org.slf4j;

    exports io.sidewarp.engine.memory;
    exports io.sidewarp.engine.verbs;
    exports io.sidewarp.provider;
    exports io.sidewarp.engine.linux to
            io.sidewarp.engine.kernel,
            io.sidewarp.engine.net,
            io.sidewarp.engine.sctp;
}
