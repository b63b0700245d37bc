# shellcheck shell=bash
# What the scripts share: functions that each get one thing ready. Sourced from the repository's root, never run.
#
# A function says in one line what it does when that takes more than a moment, does nothing the second time,
# and on failure names what is missing and the exact fix.

WASM=wasm32-unknown-unknown
TOOLS=$PWD/target/tools # what these scripts install for themselves; safe to delete
SITE=$PWD/target/site   # what the gateway serves
TARGET=${CARGO_TARGET_DIR:-target}
case $TARGET in /*) ;; *) TARGET=$PWD/$TARGET ;; esac
# shellcheck disable=SC2034 # read by the scripts that source this
GATEWAY=$TARGET/gateway/pagehand-gateway
# shellcheck disable=SC2034
CODEC=$TARGET/debug/examples/codec

BINARYEN=132.0.0 # Debian's is too old for what rustc emits
ESBUILD=0.28.2
TYPESCRIPT=7.0.2
CODESPELL=2.4.3

say() { printf '==> %s\n' "$*"; }

# die WHAT FIX
die() {
  printf '\nerror: %s\n  fix: %s\n' "$1" "$2" >&2
  exit 1
}

# ---------------------------------------------------------------- helpers

on_path() { command -v "$1" >/dev/null; }

first_on_path() {
  local name
  for name in "$@"; do command -v "$name" && return; done
}

# bounded SECONDS COMMAND…, where the system can bound a command at all
bounded() {
  if on_path timeout; then timeout "$@"; else "${@:2}"; fi
}

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

# at_least WANTED VERSION
at_least() {
  [ "$(printf '%s\n' "$1" "$2" | sort -V | sed -n 1p)" = "$1" ]
}

# apt_install PACKAGE…: false where there is no apt, or it cannot. It never removes a package to make room.
apt_install() {
  on_path apt-get && { [ "$(id -u)" = 0 ] || on_path sudo; } || return 1
  apt_has "$@" && return
  say "apt-get: installing $* (up to 2 minutes)"
  if [ -z "${apt_updated:-}" ]; then
    as_root apt-get update -qq || say "apt-get update failed; going on with the package lists this machine has"
    apt_updated=yes
  fi
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-remove --no-install-recommends "$@" >/dev/null
}

apt_has() {
  local states
  states=$(dpkg-query --show --showformat='${db:Status-Status}\n' "$@" 2>/dev/null) || return 1
  ! grep -qvx installed <<<"$states"
}

# ---------------------------------------------------------------- toolchain

# One toolchain for native and wasm builds: with two, every dependency and macro would compile twice.
pick_toolchain() {
  if builds_wasm rustc; then
    :
  elif builds_wasm /usr/bin/rustc; then
    export PATH=/usr/bin:$PATH
  elif add_rustup_target && builds_wasm rustc; then
    :
  elif on_path apt-get; then
    install_debian_rust
    export PATH=/usr/bin:$PATH
  else
    die "no Rust toolchain here builds for $WASM" "install rustup, then run: rustup target add $WASM"
  fi
  say "toolchain: $(rustc --version)"
  need_cc
}

# builds_wasm RUSTC: new enough, and has a standard library, a test crate and a linker for the page, all of one
# version (an empty test proves that), with the bitcode that `lto = "fat"` reads.
builds_wasm() {
  on_path "$1" && on_path "${1%rustc}cargo" || return 1
  local wanted scratch ok=no
  wanted=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
  at_least "$wanted" "$("$1" --version | cut -d' ' -f2)" || return 1
  grep -qs '\.llvmbc' "$("$1" --print target-libdir --target $WASM)"/libstd-*.rlib || return 1
  scratch=$(mktemp -d)
  "$1" --test --target $WASM --out-dir "$scratch" - </dev/null >/dev/null 2>&1 && ok=yes
  rm -rf "$scratch"
  [ $ok = yes ]
}

add_rustup_target() {
  on_path rustup || return 1
  say "rustup: adding the target $WASM (up to 2 minutes)"
  bounded 120 rustup target add $WASM >/dev/null 2>&1 || { say "rustup could not; trying another way"; return 1; }
}

# Debian keeps a current Rust for building its browsers. It has no wasm32 standard library, but the source of it.
install_debian_rust() {
  local llvm way_out="install rustup, then run: rustup target add $WASM"
  apt_install rustc-web cargo-web rust-web-src rust-web-llvm rustfmt-web rust-web-clippy ||
    die "apt-get could not install rustc-web and its companions (they conflict with the packages rustc, cargo and rustup)" \
      "see what 'apt-get install rustc-web cargo-web' says and mend that; or $way_out"
  llvm=$(/usr/bin/rustc --version --verbose | sed -n 's/^LLVM version: \([0-9]*\).*/\1/p')
  apt_install "lld-$llvm" || die "apt-get could not install lld-$llvm, the linker of Debian's rustc-web" "apt-get update && apt-get install lld-$llvm"
  builds_wasm /usr/bin/rustc && return
  build_wasm_std
  builds_wasm /usr/bin/rustc || die "Debian's rustc-web still does not build for $WASM" "$way_out"
}

build_wasm_std() (
  say "building Rust's standard library for $WASM (once, about 2 minutes)"
  version=$(/usr/bin/rustc --version | cut -d' ' -f2)
  libdir=$(/usr/bin/rustc --print target-libdir --target $WASM)
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  mkdir "$scratch/src"
  echo '#![no_std]' >"$scratch/src/lib.rs"
  printf '%s\n' '[package]' 'name = "scratch"' 'edition = "2024"' >"$scratch/Cargo.toml"

  # The bitcode is for `lto = "fat"`, and `test` for wasm-bindgen-test. RUSTC_BOOTSTRAP lets a stable cargo take -Z.
  cd "$scratch" || exit
  RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 RUSTFLAGS=-Cembed-bitcode=yes CARGO_TARGET_DIR=$scratch/target \
    /usr/bin/cargo build --quiet --release --target $WASM -Zbuild-std=std,panic_abort,test ||
    die "Rust's standard library for $WASM did not build" "see that cargo reaches the crate registry, then run this again"

  rm target/$WASM/release/deps/libscratch*
  as_root mkdir -p "$libdir"
  as_root find "$libdir" -name '*.rlib' -delete
  as_root cp target/$WASM/release/deps/*.rlib "$libdir"
  as_root touch "$libdir/.built-$version" # for whoever else builds this library by hand: it is there
  # Cargo does not see that the library changed: what was built against an older one has to go.
  rm -rf "${TARGET:?}/$WASM"
)

# SQLite and ring bring C.
need_cc() {
  on_path cc || apt_install gcc libc6-dev || die "no C compiler (cc)" "install gcc or clang with your system's package manager"
}

# need_node [VERSION]
need_node() {
  local wanted=${1:-18}
  has_node "$wanted" || { apt_install nodejs npm && has_node "$wanted"; } ||
    die "no Node.js $wanted or later with npm on PATH" "install the current LTS release of Node.js"
}

has_node() {
  local version
  on_path npm && version=$(node --version 2>/dev/null) && at_least "$1" "${version#v}"
}

# ---------------------------------------------------------------- tools

# The command-line tool and the crate must be of exactly one version.
need_wasm_bindgen() {
  local version home
  version=$(awk '/^name = "wasm-bindgen"$/ { getline; gsub(/[^0-9.]/, ""); print }' Cargo.lock)
  [ "$(wasm-bindgen --version 2>/dev/null)" = "wasm-bindgen $version" ] && on_path wasm-bindgen-test-runner && return
  home=$TOOLS/wasm-bindgen-$version
  export PATH=$home/bin:$PATH
  [ -x "$home/bin/wasm-bindgen-test-runner" ] && return
  say "cargo: installing wasm-bindgen-cli $version (once, 3 to 6 minutes)"
  cargo_install "$home" wasm-bindgen-cli "$version" --locked || {
    say "the registry may lack a version from its lock file; once more with the newest fitting ones"
    cargo_install "$home" wasm-bindgen-cli "$version"
  } || die "wasm-bindgen-cli $version did not install" "cargo install wasm-bindgen-cli --version $version, then run this again"
  rm -rf "$TOOLS/build"
}

# cargo_install ROOT CRATE VERSION [OPTION…]. A debug build: it compiles in half the time and is fast enough.
cargo_install() {
  cargo install "$2" --version "$3" "${@:4}" --debug --quiet --root "$1" --target-dir "$TOOLS/build"
}

need_wasm_opt() { npm_tool binaryen $BINARYEN; }
need_esbuild() { npm_tool esbuild $ESBUILD; }
need_typescript() { npm_tool typescript $TYPESCRIPT; }

# npm_tool PACKAGE VERSION: its commands come first on PATH
npm_tool() {
  local home=$TOOLS/npm
  case :$PATH: in *":$home/node_modules/.bin:"*) ;; *) export PATH=$home/node_modules/.bin:$PATH ;; esac
  grep -qs "^[[:space:]]*\"version\": *\"$2\"" "$home/node_modules/$1/package.json" && return
  say "npm: installing $1 $2 (under a minute)"
  mkdir -p "$home"
  npm install --prefix "$home" --save-exact --ignore-scripts --no-audit --no-fund --loglevel=error "$1@$2" >/dev/null ||
    die "npm could not install $1 $2" "see that 'npm view $1 version' answers, then run this again"
}

# A spell checker that knows common mistakes alone; scripts/dictionary.txt has the words of ours that look like one.
check_spelling() {
  local home=$TOOLS/codespell-$CODESPELL
  if [ ! -d "$home" ]; then
    on_path python3 && python3 -m pip --version >/dev/null 2>&1 || { say "skipped: no pip to fetch codespell with"; return 0; }
    say "pip: installing codespell $CODESPELL (a few seconds)"
    python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --target "$home.next" "codespell==$CODESPELL" ||
      { say "skipped: pip could not fetch codespell"; return 0; }
    mv "$home.next" "$home"
  fi
  git ls-files | grep -vE 'lock|fixtures/|recorded/|\.json$' |
    PYTHONPATH=$home xargs python3 -m codespell_lib --ignore-words scripts/dictionary.txt
}

need_journey_packages() { npm_packages tests/journeys "what the journeys use"; }
need_party_packages() { npm_packages tests/parties "the vendors' SDKs and a mock of their servers, 120 MB"; }

# npm_packages FOLDER WHAT: exactly what its lock file names
npm_packages() {
  need_node 20.15
  cmp -s "$1/package-lock.json" "$1/node_modules/.installed" && return
  say "npm: installing $2 (under a minute)"
  npm ci --prefix "$1" --ignore-scripts --no-audit --no-fund --loglevel=error >/dev/null ||
    die "npm could not install the packages of $1" "see that 'npm ping' answers, then run this again"
  cp "$1/package-lock.json" "$1/node_modules/.installed"
}

# The function definitions of a public leaderboard, for tests/native/bfcl.rs: target/bfcl. Without them that test is
# skipped, so nothing here is an error.
need_bfcl() {
  local home=target/bfcl next=target/bfcl.next
  [ -z "${PAGEHAND_BFCL:-}" ] && [ ! -d $home ] || return 0
  on_path pip && on_path python3 || { say "skipped: no pip to fetch bfcl-eval with"; return 0; }
  say "pip: fetching the data of bfcl-eval (2 MB)"
  rm -rf $next
  mkdir -p $next/wheel
  bounded 120 pip download --quiet --disable-pip-version-check --no-deps --dest $next/wheel bfcl-eval >/dev/null 2>&1 &&
    python3 - $next <<'PYTHON' && rm -rf $next/wheel && mv $next $home || say "skipped: pip could not fetch bfcl-eval"
import glob, os, sys, zipfile
home = sys.argv[1]
wheel = zipfile.ZipFile(glob.glob(home + "/wheel/*.whl")[0])
for name in wheel.namelist():
    folder, file = os.path.split(name)
    if file.endswith(".json") and folder in ("bfcl_eval/data", "bfcl_eval/data/multi_turn_func_doc"):
        with open(os.path.join(home, file), "wb") as out:
            out.write(wheel.read(name))
PYTHON
}

# Exports CHROMIUM and CHROMEDRIVER, which a caller may also set.
need_browser() {
  find_browser || { apt_install chromium chromium-driver && find_browser; } ||
    die "no Chromium with its ChromeDriver" "install both, of one version, or name them in CHROMIUM and CHROMEDRIVER"
}

find_browser() {
  local browser driver
  browser=${CHROMIUM:-$(first_on_path chromium chromium-browser google-chrome)}
  browser=$(command -v "$browser") && driver=$(command -v "${CHROMEDRIVER:-chromedriver}") || return 1
  export CHROMIUM=$browser CHROMEDRIVER=$driver
}

# ---------------------------------------------------------------- tests in a browser

# The committed webdriver.json names no browser, so that it holds on any machine; this run tests the one we found.
# browser_test [OPTION…] [-- OPTION…]
browser_test() {
  mkdir -p target
  node -e '
    const wanted = require("./webdriver.json");
    wanted["goog:chromeOptions"].binary = process.env.CHROMIUM;
    require("fs").writeFileSync("target/webdriver.json", JSON.stringify(wanted));
  '
  WASM_BINDGEN_TEST_WEBDRIVER_JSON=$PWD/target/webdriver.json \
    WASM_BINDGEN_TEST_TIMEOUT=120 WASM_BINDGEN_TEST_DRIVER_TIMEOUT=60 \
    CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER=wasm-bindgen-test-runner \
    cargo test --target "$WASM" --features direct --test browser "$@"
}

# ---------------------------------------------------------------- the two products

build_gateway() {
  say "cargo: building the gateway (3 to 5 minutes the first time)"
  cargo build --profile gateway --features gateway --bin pagehand-gateway
}

# The codecs at the end of a pipe: examples/codec.rs.
build_codec() {
  say "cargo: building the codecs (2 minutes the first time)"
  cargo build --example codec
}

build_site() {
  need_wasm_bindgen
  need_wasm_opt
  need_esbuild
  # Each of the two builds puts its module in the other's place, so cargo makes both anew, however little has changed.
  local sums
  sums=$(checksums Cargo.toml Cargo.lock src scripts/lib.sh)
  if [ -d target/pkg ] && [ -d target/pkg-direct ] && [ "$sums" = "$(cat target/pkg.sources 2>/dev/null)" ]; then
    make_site
    return
  fi
  rm -f target/pkg.sources
  say "cargo: building the page (3 to 5 minutes the first time)"
  # `cargo build` would make the crate's rlib too, and silently leave out `lto = "fat"` for it: a tenth more to load.
  page_flags cargo rustc --release --lib --crate-type cdylib --target $WASM
  make_package target/pkg
  say "cargo: building the page that asks models by itself (another 2 minutes)"
  page_flags cargo rustc --release --lib --crate-type cdylib --target $WASM --features direct
  make_package target/pkg-direct
  printf '%s\n' "$sums" >target/pkg.sources
  make_site
}

# page_flags COMMAND…: with the places of panics and the texts of `{:?}` left out of the page, where rustc can do that.
# They are a twentieth of the payload, and the places are paths of the machine that built it. Where the source of Rust's
# standard library is at hand it is built anew, for size and with panics that end at once: another twentieth.
page_flags() {
  local flags="-Zlocation-detail=none -Zfmt-debug=none" at_once="-Zunstable-options -Cpanic=immediate-abort"
  local std="-Zbuild-std=std,panic_abort -Zbuild-std-features=optimize_for_size"
  # shellcheck disable=SC2086 # each is several words
  if takes_flags $flags $at_once && has_std_source; then
    RUSTC_BOOTSTRAP=1 CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS="$flags $at_once" "$@" $std
  elif takes_flags $flags; then
    say "without the source of Rust's standard library the page will be a twentieth larger"
    export PAGE_STD=as-is
    RUSTC_BOOTSTRAP=1 CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS="$flags" "$@"
  else
    say "this rustc takes no $flags; the page will be a tenth larger"
    export PAGE_STD=as-is
    "$@"
  fi
}

takes_flags() { RUSTC_BOOTSTRAP=1 rustc "$@" --print cfg >/dev/null 2>&1; }

has_std_source() {
  local source
  source=$(rustc --print sysroot)/lib/rustlib/src/rust/library/std/Cargo.toml
  [ -e "$source" ] && return
  on_path rustup || return 1
  say "rustup: adding the source of Rust's standard library (under a minute)"
  bounded 120 rustup component add rust-src >/dev/null 2>&1 && [ -e "$source" ]
}

# checksums PATH…: of every file; kept beside a product, they tell whether it is still current
checksums() { find "$@" -type f -exec cksum {} + | LC_ALL=C sort -k3; }

# The WebAssembly with its glue, as it ships: target/pkg.
make_package() {
  local raw=$TARGET/$WASM/release/pagehand.wasm out=$1 sums
  sums=$(checksums "$raw" scripts/lib.sh scripts/precompress.mjs scripts/slim.mjs)
  [ -d $out ] && [ "$sums" = "$(cat $out.sums 2>/dev/null)" ] && return
  say "wasm-bindgen, wasm-opt, brotli: making $out (under a minute)"
  rm -rf $out $out.sums
  wasm-bindgen --target web --no-typescript --out-dir $out --out-name pagehand "$raw"
  node scripts/slim.mjs $out/pagehand.js $out/pagehand_bg.wasm
  # The module names the features it may use. `--all-features` would bring in types that browsers refuse to load.
  wasm-opt -Oz --strip-producers --strip-target-features $out/pagehand_bg.wasm -o $out/pagehand_bg.wasm
  minify $out/pagehand.js
  node scripts/precompress.mjs $out
  printf '%s\n' "$sums" >$out.sums
}

# The folder the gateway serves. The page's own files ship minified; the demo's stay as they were written.
make_site() {
  local next=$SITE.next sums
  sums=$(checksums index.html www target/pkg.sums target/pkg-direct.sums)
  [ -d "$SITE" ] && [ "$sums" = "$(cat "$SITE.sums" 2>/dev/null)" ] && return
  say "putting $(basename "$SITE") together (a few seconds)"
  rm -rf "$next" "$SITE.sums"
  mkdir -p "$next"
  cp -R index.html www "$next"
  cp -R target/pkg target/pkg-direct "$next/www"
  cp www/page-hand.js "$next/www/page-hand-direct.js"
  find "$next" -name '*.d.ts' -delete
  minify "$next"/www/*.js "$next"/www/*.css
  node scripts/precompress.mjs "$next"
  rm -rf "$SITE"
  mv "$next" "$SITE"
  printf '%s\n' "$sums" >"$SITE.sums"
}

# minify FILE…: in place, each by itself, so that imports stay what they are
minify() {
  local file
  for file in "$@"; do
    [ ! -e "$file" ] || esbuild "$file" --minify --format=esm --allow-overwrite --outfile="$file" --log-level=warning
  done
}
