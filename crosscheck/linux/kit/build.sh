#!/bin/bash
# Build the kernel in virtual time (User Mode Linux) from the distribution's own source package.
#
#   build.sh SOURCE.tar.xz KERNEL        such as build.sh /usr/src/linux-source-6.1.tar.xz target/linux/kernel
#
# Needs gcc, make, flex, bison, bc, xz and libc6-dev; no root, no modules, no network. It takes some ten minutes of one
# core (J=2: of two) and 1.6 GB, which it frees.  KERNEL is an ordinary program.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source=$(realpath "$1")
kernel=$(realpath -m "$2")
mkdir -p "$(dirname "$kernel")"
tree=$(mktemp -d "$kernel.source.XXXX")
trap 'rm -rf "$tree"' EXIT
nice tar xf "$source" -C "$tree" --strip-components=1
cd "$tree"

# A tick of 1000 Hz, where User Mode Linux has 100, so that timers in jiffies resolve 1 ms as on hosts.
sed -i '/^config HZ$/,/default/s/default 100$/default 1000/' arch/um/Kconfig
# Nothing random from the host: it would make the phase of BBR's probes and netem's losses another in each run.
sed -i 's/return getrandom(buf, len, flags);/(void)flags; for (size_t i = 0; i < len; i++) ((unsigned char *)buf)[i] = 0; return len;/' arch/um/os-Linux/util.c
archrandom=arch/um/include/asm/archrandom.h
[ ! -f $archrandom ] || sed -i 's/ret = os_getrandom(v, max_longs \* sizeof(\*v), 0);/ret = 0; (void)v; (void)max_longs;/' $archrandom
# No build stamp and no command line, which holds the run's folder, in the random pool: a run depends on its seed alone.
sed -i '/_mix_pool_bytes(init_utsname(), /d; /_mix_pool_bytes(command_line, strlen(command_line));/d' drivers/char/random.c

# Room for the registers of newer processors (AMX has 11 kB), without which no program starts on them. A task's stack
# holds two copies, so stacks are larger (kernel.config).
sed -i 's/DEFINE_LONGS(HOST_FP_SIZE, 2696);/DEFINE_LONGS(HOST_FP_SIZE, 16384);/' arch/x86/um/user-offsets.c

make -s ARCH=um allnoconfig >/dev/null
cat "$here/kernel.config" >> .config
make -s ARCH=um olddefconfig
for option in UML_TIME_TRAVEL_SUPPORT NET_SCH_NETEM TCP_CONG_BBR TUN VETH HIGH_RES_TIMERS; do
  grep -q "^CONFIG_$option=y" .config || { echo "build.sh: CONFIG_$option is missing from .config" >&2; exit 1; }
done
nice make -s ARCH=um -j"${J:-1}" linux
strip linux
mv linux "$kernel"
