// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

/** Names of protocol errors as the RFCs word them. Completions in rings have only the numbers. */
final class RdmaErrorNames {

    private static final int RDMAP = 0;
    private static final int DDP = 1;
    private static final int LLP = 2;

    private RdmaErrorNames() {}

    /** Returns the name of an error; empty for unknown numbers. */
    static String of(int layer, int type, int code) {
        return switch (layer) {
            case RDMAP -> rdmap(type, code);
            case DDP -> ddp(type, code);
            case LLP -> llp(code);
            default -> "";
        };
    }

    /** Returns the name of an RDMAP error (RFC 5040 section 4.8, figure 9). */
    private static String rdmap(int type, int code) {
        return switch (type << Byte.SIZE | code) {
            case 0x000 -> "Local Catastrophic Error";
            case 0x100 -> "Invalid STag";
            case 0x101 -> "Base or bounds violation";
            case 0x102 -> "Access rights violation";
            case 0x103 -> "STag not associated with RDMAP Stream";
            case 0x104 -> "TO wrap";
            case 0x109, 0x209 -> "STag cannot be Invalidated";
            case 0x205 -> "Invalid RDMAP version";
            case 0x206 -> "Unexpected OpCode";
            case 0x207 -> "Catastrophic error, localized to RDMAP Stream";
            case 0x208 -> "Catastrophic error, global";
            case 0x2FF -> "Unspecified Error";
            default -> "";
        };
    }

    /** Returns the name of a DDP error (RFC 5041 section 7.2). */
    private static String ddp(int type, int code) {
        return switch (type << Byte.SIZE | code) {
            case 0x000 -> "Local Catastrophic";
            case 0x100 -> "Invalid STag";
            case 0x101 -> "Base or bounds violation";
            case 0x102 -> "STag not associated with DDP Stream";
            case 0x103 -> "TO wrap";
            case 0x104, 0x206 -> "Invalid DDP version";
            case 0x201 -> "Invalid QN";
            case 0x202 -> "Invalid MSN - no buffer available";
            case 0x203 -> "Invalid MSN - MSN range is not valid";
            case 0x204 -> "Invalid MO";
            case 0x205 -> "DDP Message too long for available buffer";
            default -> "";
        };
    }

    /** Returns the name of an LLP error (RFC 5044 section 8 and RFC 6581 section 9). */
    private static String llp(int code) {
        return switch (code) {
            case 1 -> "connection closed, terminated or lost";
            case 2 -> "MPA CRC error";
            case 3 -> "MPA Marker and ULPDU Length field do not agree on the start of an FPDU";
            case 4 -> "Invalid MPA Request or Response frame";
            case 5 -> "Local catastrophic error";
            case 6 -> "Insufficient IRD resources";
            case 7 -> "No matching RTR option";
            default -> "";
        };
    }
}
