// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/** Verbs of the kernel: RNICs and siw, by libibverbs and librdmacm. */
module io.sidewarp.engine.kernel {
    requires transitive io.sidewarp.engine.verbs;
    requires org.slf4j;

    exports io.sidewarp.provider.kernel;
}
