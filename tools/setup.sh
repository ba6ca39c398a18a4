# shellcheck shell=bash disable=SC2034
# Copyright The Sidewarp Authors
# SPDX-License-Identifier: Apache-2.0
#
# Part of ../sidewarp: finds a JDK, Maven and other programs, and installs Debian packages where that is possible.

readonly JDK_VERSION=25
readonly MAVEN_VERSION=3.8.7
# Maximum wait for other processes that install packages, in seconds.
readonly APT_PATIENCE=600

# Prints the feature version, such as 25, of the JDK in directory $1. Prints 0 if $1 holds no JDK.
jdk_version() {
  local version=0
  if [ -x "$1/bin/javac" ] && [ -x "$1/bin/java" ]; then
    if [ -r "$1/release" ]; then
      version=$(sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$1/release")
    else
      version=$("$1/bin/javac" -version 2>&1 | sed -n 's/^javac \([0-9]*\).*/\1/p')
    fi
  fi
  printf '%s\n' "${version:-0}"
}

# Sets JAVA_HOME to the first JDK that is new enough, and fails if there is none.
find_jdk() {
  local home candidates=()
  [ -z "${JAVA_HOME:-}" ] || candidates+=("$JAVA_HOME")
  candidates+=(/usr/lib/jvm/*)
  if command -v javac >/dev/null; then
    home=$(readlink -f -- "$(command -v javac)")
    candidates+=("${home%/bin/javac}")
  fi
  candidates+=(/opt/java/* "$HOME"/.sdkman/candidates/java/* /Library/Java/JavaVirtualMachines/*/Contents/Home)
  for home in "${candidates[@]}"; do
    if [ "$(jdk_version "$home")" -ge "$JDK_VERSION" ]; then
      export JAVA_HOME=$home
      return 0
    fi
  done
  return 1
}

can_install() { [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; }

# Updates the package lists, and waits for their lock, because `apt-get update` does not.
update_packages() {
  local said second
  for ((second = 0; second < APT_PATIENCE; second++)); do
    said=$(LC_ALL=C apt-get -qq update </dev/null 2>&1) && return
    [[ $said == *'Could not get lock'* ]] || break
    sleep 1
  done
  say "the package lists could not be updated; going on with those there are: $said"
}

# Installs Debian packages; fails if this is not possible.
install_packages() {
  can_install || return 1
  say "installing $*"
  if [ -z "${PACKAGES_UPDATED:-}" ]; then
    update_packages
    PACKAGES_UPDATED=yes
  fi
  # A package that another run of this script has installed meanwhile causes no error.
  DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout="$APT_PATIENCE" install -y --no-install-recommends "$@" \
    </dev/null >&2
}

need_jdk() {
  local package
  # Java cannot use a path with a colon. Quarkus cannot use a path with brackets or line breaks.
  [[ $ROOT != *[][:$'\n']* ]] \
    || fail "the path of this checkout, $ROOT, contains a colon, a bracket or a line break." \
      "Move it to another directory."
  find_jdk && return
  if can_install; then
    for package in "openjdk-$JDK_VERSION-jdk-headless" "temurin-$JDK_VERSION-jdk"; do
      install_packages "$package" || continue
      find_jdk && return
    done
  fi
  fail "JDK $JDK_VERSION or newer is needed. It is not in JAVA_HOME, below /usr/lib/jvm or on the PATH," \
    "and the package openjdk-$JDK_VERSION-jdk-headless could not be installed." \
    "Get one from https://adoptium.net/temurin/releases/?version=$JDK_VERSION and set JAVA_HOME to its directory."
}

# Sets MAVEN to the wrapper, which downloads the project's version of Maven. Falls back to an installed mvn.
need_maven() {
  local version said wgetrc=${WGETRC:-$HOME/.wgetrc}
  # Libraries of Maven itself still use methods of Unsafe that the JDK warns about.
  export MAVEN_OPTS="--sun-misc-unsafe-memory-access=allow ${MAVEN_OPTS:-}"
  MAVEN=("$ROOT/mvnw")
  # The first run of mvnw downloads Maven as a zip file. The checksum in the wrapper's properties is of the zip file.
  said='it needs unzip'
  if command -v unzip >/dev/null || { ! command -v mvn >/dev/null && install_packages unzip; }; then
    compgen -G "${MAVEN_USER_HOME:-$HOME/.m2}/wrapper/dists/*/*" >/dev/null || say "downloading Maven"
    [ -e "$wgetrc" ] || wgetrc=$ROOT/.mvn/wrapper/wgetrc
    said=$(WGETRC=$wgetrc "$ROOT/mvnw" --version 2>&1) && return
  fi
  if ! command -v mvn >/dev/null; then
    install_packages maven || fail "Maven could not be downloaded by ./mvnw, and no mvn is on the PATH." \
      "Install Maven $MAVEN_VERSION or newer, or fix the problem of ./mvnw: $said"
  fi
  version=$(mvn --version 2>/dev/null | sed -n 's/.*Apache Maven \([0-9.]*\).*/\1/p')
  [ "$(printf '%s\n' "$MAVEN_VERSION" "$version" | sort -V | head -n 1)" = "$MAVEN_VERSION" ] \
    || fail "mvn is version $version; $MAVEN_VERSION or newer is needed, because ./mvnw could not download Maven."
  MAVEN=(mvn)
}

# Tools that the tests need besides Java. Each line is a command, a shared library, a header or a path, and its Debian
# package.
readonly TEST_TOOLS='libusrsctp.so.2 libusrsctp2
tshark tshark
dumpcap wireshark-common
text2pcap wireshark-common
iperf3 iperf3
ip iproute2
node nodejs
npm npm'

# Tools that make the site of the documentation.
readonly SITE_TOOLS='node nodejs
npm npm'

# Additional tools for the benchmark of applications.
readonly RELAY_TOOLS='cc gcc
stdio.h libc6-dev'

# Additional tools for the benchmark over SCTP.
readonly USRSCTP_TOOLS='cc gcc
stdio.h libc6-dev
usrsctp.h libusrsctp-dev'

# Additional tools for the benchmark of TLS.
readonly TLS_TOOLS='openssl openssl
stunnel stunnel4'

# Tools that compile the verbs library for the sidecar's image.
readonly IMAGE_TOOLS='gcc gcc
stdio.h libc6-dev
infiniband/verbs.h libibverbs-dev
rdma/rdma_cma.h librdmacm-dev'

# Additional tools for profiles of engines.
readonly PROFILE_TOOLS='perf linux-perf'

# Additional tools for the programs that use rings (e2e-tests/rings). Only Debian's Python finds these modules.
readonly RING_TOOLS='gcc gcc
stdio.h libc6-dev
protoc protobuf-compiler
grpc_python_plugin protobuf-compiler-grpc
/usr/include/google/protobuf/duration.proto libprotobuf-dev
/usr/bin/python3 python3
/usr/lib/python3/dist-packages/grpc python3-grpcio
/usr/lib/python3/dist-packages/google/protobuf python3-protobuf'

# Additional tools for the tests of the Python client, which also needs some of the tools above. Without these tools its
# tests are skipped.
readonly PYTHON_TOOLS='/usr/lib/python3/dist-packages/numpy python3-numpy
/usr/lib/python3/dist-packages/pytest python3-pytest
/usr/lib/python3/dist-packages/build python3-build
/usr/lib/python3/dist-packages/setuptools python3-setuptools
/usr/lib/python3/dist-packages/wheel python3-wheel'

# Additional tools for the tests of the Go module, which also needs some of the tools above. Without these tools its tests
# are skipped.
readonly GO_TOOLS='go golang-go
protoc-gen-go protoc-gen-go
protoc-gen-go-grpc protoc-gen-go-grpc
/usr/share/gocode/src/google.golang.org/grpc golang-google-grpc-dev
/usr/share/gocode/src/google.golang.org/protobuf golang-google-protobuf-dev
/usr/share/gocode/src/github.com/golang/protobuf/proto/registry.go golang-github-golang-protobuf-1-5-dev'

# Additional tools for the tests of the verbs library, which also needs some of the tools above: headers, and programs
# that use verbs.
readonly VERBS_TOOLS='infiniband/verbs.h libibverbs-dev
rdma/rdma_cma.h librdmacm-dev
ibv_devinfo ibverbs-utils
rping rdmacm-utils
ib_write_bw perftest
qperf qperf
fio fio
fi_pingpong libfabric-bin
mpirun openmpi-bin
/usr/lib/python3/dist-packages/mpi4py python3-mpi4py
/usr/lib/python3/dist-packages/pyverbs python3-pyverbs'

# Additional tools for the virtual machine with Linux soft-iWARP. Without these tools its tests are skipped.
readonly SIW_TOOLS='qemu-system-x86_64 qemu-system-x86
gcc-12 gcc-12
make make
cpio cpio
depmod kmod
xz xz-utils'

# Browser that shows the status pages. Without this tool the tests of the pages are skipped.
readonly BROWSER_TOOLS='chromium-headless-shell chromium-headless-shell'

# Tool that checks the chart's Prometheus rules. Without this tool that test is skipped.
readonly CHART_TOOLS='promtool prometheus'

# Tools that build the programs of a real API server. Without an API server its tests are skipped.
readonly KUBE_TOOLS='make make
rsync rsync'

# Succeeds if $1 exists: a command, a shared library that the linker finds, a C header, or a path.
has_tool() {
  case $1 in
    /*) [ -e "$1" ] ;;
    lib*.so.*) ldconfig -p | grep -F "$1 " >/dev/null ;;
    *.h) [ -e "/usr/include/$1" ] ;;
    *) command -v "$1" >/dev/null ;;
  esac
}

# Prints the missing tools of the list $1, and their packages.
missing_tools() {
  local tool package
  while read -r tool package; do
    has_tool "$tool" || printf '%s %s\n' "$tool" "$package"
  done <<<"$1"
}

# Installs the missing tools of the list $2. The error names $1 as the purpose.
need_tools() {
  local missing
  missing=$(missing_tools "$2")
  [ -n "$missing" ] || return 0
  # shellcheck disable=SC2046 # the packages are words
  install_packages $(cut -d ' ' -f 2 <<<"$missing") \
    || fail "$1 need $(cut -d ' ' -f 1 <<<"$missing" | xargs). Install them (Debian and Ubuntu: apt-get install" \
      "$(cut -d ' ' -f 2 <<<"$missing" | xargs))."
}

# Installs the missing tools of the list $2. If this fails, $1 will be skipped.
want_tools() {
  local missing
  missing=$(missing_tools "$2")
  # shellcheck disable=SC2046 # the packages are words
  [ -z "$missing" ] || install_packages $(cut -d ' ' -f 2 <<<"$missing") \
    || say "$1 will be skipped, as they need" \
      "$(cut -d ' ' -f 1 <<<"$missing" | xargs) (Debian 12: apt-get install $(cut -d ' ' -f 2 <<<"$missing" | xargs))"
}

want_siw_tools() { want_tools 'the tests against Linux soft-iWARP' "$SIW_TOOLS"; }

# Builds kube-apiserver and the programs that belong to it, unless they exist.
want_kube() {
  local missing status=0 script=$ROOT/operator/testing/kube/build
  if ! "$script" --find >/dev/null 2>&1 && [ -z "${KUBEBUILDER_ASSETS:-}" ]; then
    missing=$(missing_tools "$KUBE_TOOLS")
    # shellcheck disable=SC2046 # the packages are words
    [ -z "$missing" ] || install_packages $(cut -d ' ' -f 2 <<<"$missing") || true
    say "making kube-apiserver for the tests (takes about ten minutes, once)"
  fi
  "$script" </dev/null >/dev/null || status=$?
  # A signal ended the build. This script must end too: the build handles the signal itself, so bash would go on.
  [ "$status" -le 128 ] || exit "$status"
  [ "$status" = 0 ] || say "the tests against a real API server will be skipped, for the reason above"
}

# Installs the tools that the tests need, and those without which some tests are skipped.
need_test_tools() {
  need_tools 'the tests' "$TEST_TOOLS"
  need_tools 'the tests of rings' "$RING_TOOLS"
  need_tools 'the tests of images' "$IMAGE_TOOLS"
  want_tools 'the tests of the Python client' "$PYTHON_TOOLS"
  want_tools 'the tests of the Go module' "$GO_TOOLS"
  need_tools 'the tests of the verbs library' "$VERBS_TOOLS"
  want_siw_tools
  want_tools "the checks of the chart's Prometheus rules" "$CHART_TOOLS"
  want_tools 'the test of profiles' "$PROFILE_TOOLS"
  want_tools 'the tests of the status pages' "$BROWSER_TOOLS"
}

# Installs all that the commands and the tests need. Without the right to install, prints what to install and stops.
run_setup() {
  need_jdk
  need_test_tools
  need_maven
  say "all that the commands and the tests need is installed"
}
