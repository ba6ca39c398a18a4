// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.tls;

import java.security.InvalidAlgorithmParameterException;
import java.security.NoSuchAlgorithmException;
import java.security.NoSuchProviderException;
import java.security.Provider;
import java.security.spec.AlgorithmParameterSpec;
import java.util.List;
import java.util.Map;
import javax.crypto.KDF;
import javax.crypto.KDFParameters;
import javax.crypto.KDFSpi;
import javax.crypto.SecretKey;
import javax.crypto.spec.HKDFParameterSpec;
import org.jspecify.annotations.Nullable;

/** Security provider of HKDF that leaves the work to the Java library's own, and tells watched engines of the results. */
final class KeyLogProvider extends Provider {

    private static final long serialVersionUID = 1;

    static final String NAME = "SidewarpTlsKeyLog";

    private static final String TYPE = "KDF";
    private static final String WORKER = "SunJCE";

    KeyLogProvider() {
        super(NAME, "1", "Writes the secrets of TLS connections to a file");
        for (String algorithm : List.of("HKDF-SHA256", "HKDF-SHA384")) {
            putService(new Service(this, TYPE, algorithm, Watching.class.getName(), null, Map.of()) {
                @Override
                public Object newInstance(@Nullable Object parameter) throws NoSuchAlgorithmException {
                    try {
                        return new Watching((KDFParameters) parameter, KDF.getInstance(algorithm, WORKER));
                    } catch (InvalidAlgorithmParameterException | NoSuchProviderException e) {
                        throw new NoSuchAlgorithmException(e);
                    }
                }
            });
        }
    }

    private static final class Watching extends KDFSpi {

        private final KDF worker;

        Watching(@Nullable KDFParameters parameters, KDF worker) throws InvalidAlgorithmParameterException {
            super(parameters);
            this.worker = worker;
        }

        @Override
        protected @Nullable KDFParameters engineGetParameters() {
            return worker.getParameters();
        }

        @Override
        protected SecretKey engineDeriveKey(String algorithm, AlgorithmParameterSpec parameters)
                throws InvalidAlgorithmParameterException, NoSuchAlgorithmException {
            SecretKey key = worker.deriveKey(algorithm, parameters);
            if (parameters instanceof HKDFParameterSpec.Expand expand && expand.info() != null) {
                WatchedEngine.onDerived(expand.info(), key.getEncoded());
            }
            return key;
        }

        @Override
        protected byte[] engineDeriveData(AlgorithmParameterSpec parameters) throws InvalidAlgorithmParameterException {
            return worker.deriveData(parameters);
        }
    }
}
