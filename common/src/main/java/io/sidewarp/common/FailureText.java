// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.common;

import java.io.EOFException;
import java.io.IOException;
import java.net.UnknownHostException;
import java.nio.channels.UnresolvedAddressException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystemLoopException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;

/** Describes failures for people who do not know the classes of Java. */
public final class FailureText {

    private FailureText() {}

    /** Returns the reason of a failed use of a file, with the file. */
    public static String withFile(IOException failure) {
        return failure instanceof FileSystemException ofFile && ofFile.getFile() != null
                ? ofFile.getFile() + ": " + reason(failure)
                : reason(failure);
    }

    /** Returns the reason of a failed input or output, without the file. */
    public static String reason(IOException failure) {
        return switch (failure) {
            case FileSystemException told when told.getReason() != null -> told.getReason();
            case AccessDeniedException denied -> "permission denied";
            case NoSuchFileException missing -> "no such file or directory";
            case FileAlreadyExistsException present -> "a file of this name exists";
            case DirectoryNotEmptyException used -> "the directory is not empty";
            case NotDirectoryException other -> "it is not a directory";
            case FileSystemLoopException loop -> "its symbolic links form a loop";
            case FileSystemException untold -> "the file system refuses it";
            case CharacterCodingException binary -> "it has bytes that are not text";
            case EOFException ended -> "the data ended too early";
            case UnknownHostException unknown -> "no address is known for " + unknown.getMessage();
            default -> ofCause(failure);
        };
    }

    /** Returns the message of the failure. Without one, returns that of the deepest cause. */
    private static String ofCause(IOException failure) {
        if (failure.getMessage() != null) {
            return failure.getMessage();
        }
        Throwable cause = root(failure);
        if (cause instanceof UnresolvedAddressException) {
            return "no address is known for the host";
        }
        return cause.getMessage() == null ? "no reason was given" : cause.getMessage();
    }

    /** Returns the deepest cause of a failure, which may be the failure itself. */
    public static Throwable root(Throwable failure) {
        Throwable cause = failure;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause;
    }
}
