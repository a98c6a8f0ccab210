#!/bin/sh
# Installs oxbow for one user: downloads the archive for this machine, verifies its checksum and unpacks it.
# OXBOW_INSTALL_DIR is the directory for the program (~/.local/bin). OXBOW_BASE_URL is the address of the files.
set -eu

version='@VERSION@'
base=${OXBOW_BASE_URL:-https://github.com/oxbow-memory/oxbow/releases/download/v$version}
dir=${OXBOW_INSTALL_DIR:-$HOME/.local/bin}

fail() {
	echo "install.sh: $1" >&2
	exit 1
}

case $(uname -s) in
Linux) os=linux ;;
Darwin) os=darwin ;;
*) fail "there is no archive for $(uname -s); see docs/install.md" ;;
esac
case $(uname -m) in
x86_64 | amd64) arch=amd64 ;;
aarch64 | arm64) arch=arm64 ;;
*) fail "there is no archive for $(uname -m); see docs/install.md" ;;
esac
archive=oxbow_${version}_${os}_$arch.tar.gz

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

download() {
	if command -v curl >/dev/null; then
		curl -fsSL -o "$tmp/$1" "$base/$1"
	else
		wget -q -O "$tmp/$1" "$base/$1"
	fi || fail "$base/$1 cannot be downloaded"
}
download checksums.txt
download "$archive"

want=$(awk -v name="$archive" '$2 == name { print $1 }' "$tmp/checksums.txt")
[ -n "$want" ] || fail "checksums.txt does not list $archive"
if command -v sha256sum >/dev/null; then
	got=$(sha256sum "$tmp/$archive")
else
	got=$(shasum -a 256 "$tmp/$archive")
fi
[ "${got%% *}" = "$want" ] || fail "the checksum of $archive is ${got%% *}, not $want; nothing was installed"

tar -xzf "$tmp/$archive" -C "$tmp" oxbow
mkdir -p "$dir"
# Rename the program into its place, so that a running oxbow is not changed.
cp "$tmp/oxbow" "$dir/.oxbow.new"
chmod 755 "$dir/.oxbow.new"
mv -f "$dir/.oxbow.new" "$dir/oxbow"
echo "installed $dir/oxbow"
case :$PATH: in
*:"$dir":*) echo "next: oxbow demo" ;;
*) echo "next: $dir/oxbow demo" ;;
esac
