// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

/**
 * An error of the protocol stack, as a Terminate message carries it (RFC 5040 section 4.8, RFC 5041 section 7.2, RFC
 * 5044 section 8).
 *
 * @param layer 0 RDMAP, 1 DDP, 2 LLP
 * @param type error type, 0 to 15
 * @param code error code, 0 to 255
 * @param name the error as the RFC words it, for example "Base or bounds violation"
 * @param remote true if the peer reported the error, false if this side found it
 */
public record RdmaErrorInfo(int layer, int type, int code, String name, boolean remote) {

    /** Describes the error in one line, for example "the peer reported DDP error 1/1: Base or bounds violation". */
    @Override
    public String toString() {
        String layerName = switch (layer) {
            case 0 -> "RDMAP";
            case 1 -> "DDP";
            case 2 -> "LLP";
            default -> "layer " + layer;
        };
        return "%s %s error %d/%d: %s"
                .formatted(remote ? "the peer reported" : "this side found", layerName, type, code, name);
    }
}
