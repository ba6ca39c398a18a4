# shellcheck shell=bash
# Copyright The Sidewarp Authors
# SPDX-License-Identifier: Apache-2.0
#
# Part of ../sidewarp: the commands. Each builds what it needs, and starts it with its JVM flags.

readonly JVM_FLAGS=("@$ROOT/tools/jvm/program.args")
# Disables Netty's leak detection, which records where one of 128 buffers was allocated. Tests leave it enabled.
readonly NETTY_FLAGS=(-Dio.netty.leakDetection.level=disabled)
# -XX:MaxDirectMemorySize: buffers are direct memory, and the sidecar's own limits keep buffers below this size.
#   Managed regions do not count: sidewarp.limits.managed-octets bounds managed regions, and the JVM does not.
readonly SIDECAR_FLAGS=("@$ROOT/tools/jvm/sidecar.args" -XX:MaxDirectMemorySize=1g)
# Short commands run without C2, which would still be compiling at their end. Commands that move data need C2: only C2
# uses the processor's instructions for SHA-256.
readonly SHORT_COMMAND_FLAGS=(-XX:TieredStopAtLevel=1)

# Succeeds if the arguments contain --help or -h.
asks_for_help() { [[ " $* " == *' --help '* || " $* " == *' -h '* ]]; }

run_tests() {
  need_jdk
  need_test_tools
  want_kube
  need_maven
  lock
  cd "$ROOT"
  say "checking the API contract"
  "$ROOT/proto/lint.sh" </dev/null
  say "checking the language of comments"
  "$ROOT/tools/language.py" >/dev/null || fail "comments break the rules of CONTRIBUTING.md, Language: tools/language.py --list"
  # Builds two modules at a time: modules of the sidecar and modules of the operator do not depend on each other.
  exec "${MAVEN[@]}" -B -T 2 verify "$@" </dev/null
}

run_siw_tests() {
  need_jdk
  need_tools 'the tests' "$TEST_TOOLS"
  want_siw_tools
  need_maven
  lock
  cd "$ROOT"
  exec "${MAVEN[@]}" -B verify -pl e2e-tests -am -Dtest=none -Dit.test='Siw*IT,SctpKernel*IT,Kernel*IT,Agent*IT' -Dsurefire.failIfNoSpecifiedTests=false \
    -Dfailsafe.failIfNoSpecifiedTests=false "$@" </dev/null
}

run_cluster_tests() {
  local file='' transcript=e2e-tests/target/e2e/operator-transcript.txt
  [ -z "${1:-}" ] || file=$(realpath -- "$1") || fail "the transcript cannot be put there"
  [ -n "${KUBECONFIG:-}" ] || fail "KUBECONFIG is not set. Set it to a file with the cluster and your credentials."
  need_jdk
  need_tools 'the tests' "$TEST_TOOLS"
  need_maven
  lock
  cd "$ROOT"
  "${MAVEN[@]}" -B verify -pl e2e-tests -am -Dtest=none -Dit.test=OperatorIT -Dsurefire.failIfNoSpecifiedTests=false \
    -Dfailsafe.failIfNoSpecifiedTests=false </dev/null
  if [ -n "$file" ]; then
    # Replaces the text between the markers of the file. A file without markers is replaced as a whole.
    if [ -e "$file" ] && grep -q '^<!-- begin: transcript -->$' "$file"; then
      sed -i -e "/^<!-- begin: transcript -->\$/,/^<!-- end: transcript -->\$/{
        //!d
        /^<!-- begin/r $transcript
      }" "$file"
      sed -i -e '/^<!-- begin: transcript -->$/a ```console' -e '/^<!-- end: transcript -->$/i ```' "$file"
    else
      cp -- "$transcript" "$file"
    fi
  fi
}

run_scale_test() {
  local size
  for size in "$@"; do
    [[ $size =~ ^[1-9][0-9]*$ ]] \
      || fail "$size is not a number of nodes or pods; use ./sidewarp test-scale [NODES [PODS]]"
  done
  need_jdk
  want_kube
  need_maven
  lock
  cd "$ROOT"
  exec "${MAVEN[@]}" -B verify -pl operator/controller,operator/node-agent -am \
    -Dtest=none -Dit.test=ScaleIT,AgentMemoryIT -Dscale.nodes="${1:-1000}" -Dscale.pods="${2:-10000}" \
    -Dsurefire.failIfNoSpecifiedTests=false -Dfailsafe.failIfNoSpecifiedTests=false </dev/null
}

run_sidecar() {
  need_jdk
  build_if_needed programs
  local cache=()
  [ "${SIDEWARP_BUILD:-}" = never ] || is_trained || [ ! -w "${SIDECAR_CACHE%/*}" ] || train
  # A JVM that cannot use the cache, for example because of other flags, runs without it. Its warnings are switched off.
  [ ! "$SIDECAR_CACHE" -nt "$SERVICE_JAR" ] || cache=(-XX:AOTCache="$SIDECAR_CACHE" '-Xlog:aot*=off,cds*=off')
  exec "$JAVA_HOME/bin/java" "${JVM_FLAGS[@]}" "${SIDECAR_FLAGS[@]}" "${cache[@]}" "$@" -cp "$("$ROOT/sidecar/class-path")" \
    io.sidewarp.service.lifecycle.SidecarMain
}

run_images() {
  local argument packages='' refresh=() arguments=()
  for argument in "$@"; do
    if [ "$argument" = --refresh ]; then refresh=(--refresh); else arguments+=("$argument"); fi
  done
  need_jdk
  asks_for_help "$@" || need_tools 'images' "$IMAGE_TOOLS"
  build_if_needed images
  asks_for_help "$@" || packages=$("$ROOT/images/packages" "${refresh[@]}") || exit
  exec "$JAVA_HOME/bin/java" "${JVM_FLAGS[@]}" -jar "$IMAGES_JAR" --root "$ROOT" --packages "$packages" "${arguments[@]}"
}

run_fuzz() {
  local classpath=$ROOT/target/fuzz/classpath engine=$ROOT/sidecar/engine/sctp
  if [ "${1:-}" = rings ] || [ "${1:-}" = control ]; then
    run_sidecar_fuzz "$@"
  fi
  need_jdk
  need_maven
  lock
  say "compiling the engine and its tests"
  mkdir -p "$ROOT/target/fuzz"
  (cd "$ROOT" && "${MAVEN[@]}" -B -q test-compile dependency:build-classpath -pl sidecar/engine/sctp -am \
    -Dmdep.includeScope=test -Dmdep.outputFile="$classpath") </dev/null >&2 || fail "the build failed; see above"
  unlock
  exec "$JAVA_HOME/bin/java" "${JVM_FLAGS[@]}" \
    -cp "$engine/target/test-classes:$engine/target/classes:$(cat "$classpath")" \
    io.sidewarp.engine.fuzz.FuzzCommand "$engine/src/test/resources" "$ROOT/target/fuzz" "$@"
}

# Fuzzes rings in shared memory, or the control socket. This needs the classes of the service and of its tests.
run_sidecar_fuzz() {
  local classpath=$ROOT/target/fuzz/service-classpath service=$ROOT/sidecar/service
  need_jdk
  need_maven
  lock
  say "compiling the service and its tests"
  mkdir -p "$ROOT/target/fuzz"
  (cd "$ROOT" && "${MAVEN[@]}" -B -q test-compile dependency:build-classpath -pl sidecar/service -am \
    -Dmdep.includeScope=test -Dmdep.outputFile="$classpath") </dev/null >&2 || fail "the build failed; see above"
  unlock
  exec "$JAVA_HOME/bin/java" "${JVM_FLAGS[@]}" -ea \
    -cp "$service/target/test-classes:$service/target/classes:$(cat "$classpath")" \
    io.sidewarp.service.fuzz.SidecarFuzzCommand "$@"
}

run_bench() {
  need_jdk
  if ! asks_for_help "$@"; then
    need_tools 'benchmarks' "$TEST_TOOLS"
    [[ ${*^^} == *--ONLY* && ${*^^} != *APPLICATION* ]] || need_tools 'benchmarks of applications' "$RELAY_TOOLS"
    [[ ${*^^} != *SCTP* ]] || need_tools 'benchmarks over SCTP' "$USRSCTP_TOOLS"
    [[ ${*^^} != *TLS* ]] || need_tools 'benchmarks of TLS' "$TLS_TOOLS"
    [[ ${*^^} != *PROFILE* ]] || need_tools 'profiles' "$PROFILE_TOOLS"
  fi
  build_if_needed bench
  export SIDEWARP_ROOT=$ROOT
  exec "$JAVA_HOME/bin/java" "${JVM_FLAGS[@]}" -jar "$BENCH_JAR" "$@"
}

# Makes the site by the VitePress of docs/package-lock.json.
run_site() {
  local docs=$ROOT/docs
  need_tools 'the site' "$SITE_TOOLS"
  if [ ! "$docs/node_modules/.package-lock.json" -nt "$docs/package-lock.json" ]; then
    npm ci --prefix "$docs" --no-audit --no-fund --loglevel=error </dev/null >&2 \
      || fail "npm could not download VitePress; see above. Check that the npm registry can be reached."
  fi
  "$docs/node_modules/.bin/vitepress" build "$docs" </dev/null
  say "the site is in target/site. To look at it: python3 -m http.server --directory target/site"
}

# Prints the command among the arguments of the sidewarp program: the first argument that is no option and no value of
# one.
command_among() {
  while [ $# -gt 0 ]; do
    case $1 in
      --api | --volume | --wait | --wait-ready) [ $# -eq 1 ] || shift ;;
      -*) ;;
      *)
        printf '%s\n' "$1"
        return
        ;;
    esac
    shift
  done
}

run_cli() {
  local command flags=()
  command=$(command_among "$@")
  case $command in
    cp | serve | perf | perftest | demo) ;;
    ping | show | top | identity | completion | man | '') flags=("${SHORT_COMMAND_FLAGS[@]}") ;;
    *)
      say "no such command: $command. ./sidewarp --help lists the commands."
      exit "$EX_ARGUMENTS"
      ;;
  esac
  need_jdk
  build_if_needed programs
  export SIDEWARP_ROOT=$ROOT
  exec "$JAVA_HOME/bin/java" "${JVM_FLAGS[@]}" "${NETTY_FLAGS[@]}" "${flags[@]}" -jar "$CLI_JAR" "$@"
}
