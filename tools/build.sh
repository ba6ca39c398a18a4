# shellcheck shell=bash disable=SC2034
# Copyright The Sidewarp Authors
# SPDX-License-Identifier: Apache-2.0
#
# Part of ../sidewarp: packages the programs when their sources have changed, one build at a time.

readonly SERVICE_JAR=$ROOT/sidecar/service/target/quarkus-app/quarkus-run.jar
readonly CLI_JAR=$ROOT/sidecar/cli/target/sidewarp-cli.jar
# Ahead-of-time cache of the JVM for the packaged sidecar. With this cache, later sidecars start sooner.
readonly SIDECAR_CACHE=$ROOT/sidecar/service/target/sidecar.aot
readonly BENCH_JAR=$ROOT/sidecar/benchmarks/target/sidewarp-benchmarks.jar
readonly IMAGES_JAR=$ROOT/images/target/sidewarp-images.jar

# Modules to package: programs that commands run; the same with benchmarks; the same with all programs of images.
readonly -A MODULES=([programs]=sidecar/service,sidecar/cli
  [bench]=sidecar/service,sidecar/cli,sidecar/benchmarks
  [images]=sidecar/service,sidecar/cli,operator/controller,operator/node-agent,images)
readonly -A SOURCES=([programs]='common proto clients/java sidecar' [bench]='common proto clients/java sidecar' [images]='common proto clients/java sidecar operator images')

is_packaged() {
  [ -e "$SERVICE_JAR" ] && [ -e "$CLI_JAR" ] || return
  case $1 in
    bench) [ -e "$BENCH_JAR" ] ;;
    images) [ -e "$IMAGES_JAR" ] ;;
  esac
}

# Succeeds if the packaged programs for $1 are newer than all their sources.
is_built() {
  local newer stamp=$ROOT/target/sidewarp-$1.stamp
  [ -e "$stamp" ] && is_packaged "$1" || return 1
  # shellcheck disable=SC2086 # the directories are words
  newer=$(cd "$ROOT" && find pom.xml .mvn ${SOURCES[$1]} e2e-tests/pom.xml \
    \( -name target -o -path '*/src/test' \) -prune -o \( -type f -o -path '*/src/*' \) -newer "$stamp" -print -quit)
  [ -z "$newer" ]
}

# Ends with an error; $1 is the reason.
cannot_write() {
  fail "cannot build in this checkout: $1. Copy the checkout to a directory that is writable;" \
    "or, if the programs are packaged already, run them with SIDEWARP_BUILD=never."
}

build() {
  local begin
  need_maven
  say "building (the first time downloads libraries and takes some minutes)"
  # The stamp dates from before the build, so that files that change during the build are newer.
  begin=$(mktemp "$ROOT/target/begin.XXXXXX" 2>&1) || cannot_write "$begin"
  if ! (cd "$ROOT" && "${MAVEN[@]}" -B -q package -pl "${MODULES[$1]}" -am -Dmaven.test.skip=true) </dev/null >&2; then
    rm -f "$begin"
    say "the build failed; see above"
    exit 1
  fi
  mv -f "$begin" "$ROOT/target/sidewarp-$1.stamp"
  train
}

# Prints the identity of the JVM: another JVM cannot use its cache.
this_jvm() {
  echo "$JAVA_HOME"
  [ ! -r "$JAVA_HOME/release" ] || cat "$JAVA_HOME/release"
}

# Succeeds if this JVM has made a cache of the packaged sidecar, or has failed to make one.
is_trained() {
  case $(cat "$SIDECAR_CACHE.jvm" 2>/dev/null) in
    "$(this_jvm)") [ "$SIDECAR_CACHE" -nt "$SERVICE_JAR" ] ;;
    "none: $(this_jvm)") [ "$SIDECAR_CACHE.jvm" -nt "$SERVICE_JAR" ] ;;
    *) false ;;
  esac
}

train() {
  local none=
  if ! "$ROOT/sidecar/train" "$JAVA_HOME/bin/java" "$SIDECAR_CACHE" "${JVM_FLAGS[@]}" "${SIDECAR_FLAGS[@]}"; then
    say "sidecars will take longer to start, for the reason above"
    none='none: '
  fi
  # If the result cannot be written, a later command makes the cache again.
  { echo "$none$(this_jvm)" >"$SIDECAR_CACHE.jvm"; } 2>/dev/null || true
}

# Waits until no other ./sidewarp builds or tests here, because packaging replaces the files that programs run from.
# Other callers then wait until this script ends or unlocks.
lock() {
  local said file=$ROOT/target/sidewarp-build.lock
  [ "${SIDEWARP_BUILD:-}" != never ] || return 0
  said=$(mkdir -p "$ROOT/target" 2>&1) || cannot_write "$said"
  # In a read-only checkout no lock is needed, because nothing can be built.
  { true >>"$file"; } 2>/dev/null && command -v flock >/dev/null || return 0
  exec 9>>"$file"
  flock --nonblock 9 && return
  say "waiting for another ./sidewarp that builds or tests here; SIDEWARP_BUILD=never would not wait"
  flock 9
}

unlock() { exec 9>&-; }

# Packages the modules that $1 names. One build runs at a time: a second caller waits, and then finds a finished build.
build_if_needed() {
  if [ "${SIDEWARP_BUILD:-}" = never ]; then
    is_packaged "$1" \
      || fail "SIDEWARP_BUILD is never, but not all of ${MODULES[$1]} is packaged yet. Unset it to build."
    return
  fi
  lock
  is_built "$1" || build "$1"
  unlock
}
