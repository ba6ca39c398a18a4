// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.images;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import java.util.jar.Manifest;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/**
 * A Java program as a file that the kernel can start in an image without a shell. The file is a jar with a first line
 * that names its interpreter. The kernel passes that line's argument and the path of the file to the interpreter:
 * {@code java @OPTIONS FILE}. The options end with {@code -jar}. The first line does no harm, since a jar is read from
 * its end.
 */
final class CommandFile {
    /** Earliest time that a zip file can store. */
    private static final LocalDateTime EPOCH = LocalDateTime.of(1980, 1, 1, 0, 0);

    private CommandFile() {}

    /**
     * Writes a file for a program.
     *
     * @param options path of the options in the image
     * @param mainClass class that the file starts
     * @param classPath paths of jars, relative to the file's directory
     */
    static void write(Path file, String options, String mainClass, List<String> classPath) {
        Manifest manifest = new Manifest();
        Attributes attributes = manifest.getMainAttributes();
        attributes.put(Attributes.Name.MANIFEST_VERSION, "1.0");
        attributes.put(Attributes.Name.MAIN_CLASS, mainClass);
        attributes.put(Attributes.Name.CLASS_PATH, String.join(" ", classPath));
        ByteArrayOutputStream content = new ByteArrayOutputStream();
        String interpreter = "#!" + Program.JAVA_HOME + "/bin/java @" + options + "\n";
        content.writeBytes(interpreter.getBytes(StandardCharsets.US_ASCII));
        try (ZipOutputStream jar = new ZipOutputStream(content)) {
            ZipEntry entry = new ZipEntry(JarFile.MANIFEST_NAME);
            entry.setTimeLocal(EPOCH);
            jar.putNextEntry(entry);
            manifest.write(jar);
            jar.closeEntry();
            jar.finish();
            Files.write(file, content.toByteArray());
        } catch (IOException e) {
            throw new UncheckedIOException("cannot write " + file, e);
        }
    }
}
