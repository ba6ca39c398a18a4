// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.config;

import java.util.Locale;
import org.eclipse.microprofile.config.spi.Converter;

/** The values of a switch. The configuration's own converter takes everything that it does not know for false. */
public final class StrictBoolean implements Converter<Boolean> {

    private static final long serialVersionUID = 1;

    /** @throws IllegalArgumentException when the value is neither "true" nor "false", in whatever case */
    @Override
    public Boolean convert(String value) {
        return switch (value.strip().toLowerCase(Locale.ROOT)) {
            case "true" -> true;
            case "false" -> false;
            default -> throw new IllegalArgumentException("allowed: true or false");
        };
    }
}
