// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.identity;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import io.sidewarp.common.FailureText;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code sidewarp identity}. */
@Command(
        name = "identity",
        header = "Make certificates for the TLS of sidecars, by a small CA of your own.",
        description = {
            "Makes a key and a certificate with the SPIFFE ID spiffe://TRUST-DOMAIN/NAME for each NAME, and writes them"
                    + " to DIR/NAME as tls.key, tls.crt and ca.crt. The CA in DIR/ca is made when it is first used."
                    + " Repeat the command to renew a certificate: sidecars read changed files by themselves.",
            "",
            "Sidecars need the setting sidewarp.identity.source=files, and DIR/NAME as sidewarp.identity.directory. Keep"
                    + " DIR/ca away from them.",
            ""
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  sidewarp identity certs ns/shop/sa/cart ns/shop/sa/store",
            "  openssl x509 -in certs/ns/shop/sa/cart/tls.crt -text"
        })
public final class IdentityCommand implements Callable<Integer> {

    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)*");
    private static final Pattern TRUST_DOMAIN = Pattern.compile("[a-z0-9._-]{1,255}");
    private static final int MAX_NAME = 1024;
    private static final int MAX_DAYS = 1825;

    @Parameters(index = "0", paramLabel = "DIR", description = "Directory of the CA and the identities.")
    private Path directory = Path.of("");

    @Parameters(
            index = "1..*",
            arity = "1..*",
            paramLabel = "NAME",
            description = "Path of a SPIFFE ID: ns/NAMESPACE/sa/SERVICEACCOUNT for a pod.")
    private List<String> names = List.of();

    @Option(
            names = "--trust-domain",
            paramLabel = "NAME",
            description = "Trust domain of a new CA. Default: " + Authority.DEFAULT_TRUST_DOMAIN + ".")
    private Optional<String> trustDomain = Optional.empty();

    @Option(
            names = "--days",
            paramLabel = "DAYS",
            defaultValue = "30",
            description = "Days until the certificates expire, 1 to 1825 (default: ${DEFAULT-VALUE}).")
    private int days;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        Failure.checkRange("--days", days, 1, MAX_DAYS);
        names.forEach(IdentityCommand::check);
        trustDomain.ifPresent(domain -> {
            if (!TRUST_DOMAIN.matcher(domain).matches()) {
                throw new Failure(
                        ExitCode.USAGE,
                        "the trust domain \"" + domain
                                + "\" is not valid: use lower-case letters, digits and any of .-_, as in example.org");
            }
        });
        try {
            Authority authority = Authority.open(directory, trustDomain);
            for (String name : names) {
                Authority.Issued issued = authority.issue(name, Duration.ofDays(days));
                spec.commandLine()
                        .getOut()
                        .println(issued.id() + " in " + issued.directory() + ", valid until " + issued.expiry());
            }
        } catch (IOException e) {
            throw new Failure(
                    ExitCode.CANNOT_CREATE,
                    "cannot write certificates below " + directory + ": " + FailureText.withFile(e),
                    e);
        }
        return ExitCode.OK;
    }

    private static void check(String name) {
        boolean relative = List.of(name.split("/")).stream().anyMatch(part -> part.equals(".") || part.equals(".."));
        if (!NAME.matcher(name).matches() || relative || name.length() > MAX_NAME) {
            throw new Failure(
                    ExitCode.USAGE,
                    "\"" + name + "\" is not the path of a SPIFFE ID: use letters, digits and any of .-_ between"
                            + " slashes, as in ns/shop/sa/cart");
        }
        if (name.equals("ca") || name.startsWith("ca/")) {
            throw new Failure(ExitCode.USAGE, "the name " + name + " is that of the CA's own directory; use another");
        }
    }
}
