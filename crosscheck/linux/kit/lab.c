/* lab.c: the only program of the virtual-time laboratory.  Static, no library but libc.
 *
 * Inside the guest (called by guest.sh):
 *   lab seed N                      credit the guest's random pool with a fixed seed (reproducible runs)
 *   lab halt                        power the guest off
 *   lab run OUT k=v ...             receivers (namespace B), senders (A), bottleneck capture (R1), traces
 *   lab wire k=v ...                optional middle box (namespaces M0/M1): drops or CE-marks listed data packets
 * On the host afterwards:
 *   lab analyse OUT k=v ...         capture -> bottleneck statistics (one line) and a 10 ms queue trace
 *
 * Files written: OUT.info.csv (TCP_INFO of every flow each dt), OUT.cap (binary, struct rec), OUT.nstat.csv (counters),
 *                OUT.ev.csv (kernel trace points: congestion state changes, retransmissions), OUT.probe.csv (one line
 * per ACK).
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/if_tun.h>
#include <linux/random.h>
#include <linux/tcp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifndef IPPROTO_TCP
#define IPPROTO_TCP 6
#endif
#ifndef TCP_CC_INFO
#define TCP_CC_INFO 26
#endif
#define MAXF 64
#define BASE .1011 /* time on the kernel's clock at the beginning of a run [s] */
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;

static int AC;
static char **AV;
static const char *opt(const char *k, const char *d) {
    size_t n = strlen(k);
    for (int i = 0; i < AC; i++)
        if (!strncmp(AV[i], k, n) && AV[i][n] == '=')
            return AV[i] + n + 1;
    return d;
}
static double num(const char *k, double d) {
    const char *s = opt(k, 0);
    return s && *s ? atof(s) : d;
}
static void die(const char *m) {
    fprintf(stderr, "lab: %s: %s\n", m, strerror(errno));
    exit(1);
}
static u64 ns(clockid_t c) {
    struct timespec t;
    clock_gettime(c, &t);
    return t.tv_sec * 1000000000ull + t.tv_nsec;
}
static void enter(const char *n) {
    char p[64];
    snprintf(p, sizeof p, "/run/netns/%s", n);
    int f = open(p, O_RDONLY);
    if (f < 0 || setns(f, CLONE_NEWNET))
        die(p);
    close(f);
}
static FILE *out(const char *o, const char *ext) {
    char p[512];
    snprintf(p, sizeof p, "%s%s", o, ext);
    FILE *f = fopen(p, "w");
    if (!f)
        die(p);
    setvbuf(f, 0, _IOFBF, 1 << 20);
    return f;
}

/* ------------------------------------------------------------------ capture ---- */
struct rec {
    u64 t;
    u32 seq, ack;
    u16 len, id, port, payload;
    u8 dev, dir, fl, tos;
    u32 nsack;
}; /* 32 bytes */
struct ring {
    int fd;
    u8 *map;
    unsigned n, i;
};
#define FR 256
#define NFR 32768
static void ring_open(struct ring *r, const char *dev) {
    r->fd = socket(AF_PACKET, SOCK_DGRAM, 0);
    if (r->fd < 0)
        die("packet socket");
    int v = TPACKET_V2;
    if (setsockopt(r->fd, SOL_PACKET, PACKET_VERSION, &v, sizeof v))
        die("tpacket");
    struct tpacket_req q = {
        .tp_block_size = 1 << 16, .tp_block_nr = NFR * FR >> 16, .tp_frame_size = FR, .tp_frame_nr = NFR};
    if (setsockopt(r->fd, SOL_PACKET, PACKET_RX_RING, &q, sizeof q))
        die("ring");
    r->map = mmap(0, (size_t)NFR * FR, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, 0);
    if (r->map == MAP_FAILED)
        die("mmap");
    struct ifreq f = {0};
    strcpy(f.ifr_name, dev);
    if (ioctl(r->fd, 0x8933, &f))
        die("ifindex");
    struct sockaddr_ll a = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL), .sll_ifindex = f.ifr_ifindex};
    if (bind(r->fd, (void *)&a, sizeof a))
        die("bind packet");
    r->n = NFR;
    r->i = 0;
}
static void drain(struct ring *r, int dev, FILE *f, u64 t0, int acks) {
    for (;;) {
        struct tpacket2_hdr *h = (void *)(r->map + (size_t)r->i * FR);
        if (!(*(volatile u32 *)&h->tp_status & TP_STATUS_USER))
            return;
        struct sockaddr_ll *l = (void *)((u8 *)h + TPACKET_ALIGN(sizeof *h));
        u8 *p = (u8 *)h + h->tp_net;
        int dir = l->sll_pkttype == PACKET_OUTGOING;
        if (h->tp_snaplen >= 40 && p[0] == 0x45 && p[9] == 6) {
            struct rec x = {0};
            u8 *t = p + 20;
            int th = (t[12] >> 4) * 4;
            x.t = h->tp_sec * 1000000000ull + h->tp_nsec - t0;
            x.len = p[2] << 8 | p[3];
            x.id = p[4] << 8 | p[5];
            x.tos = p[1];
            x.seq = ntohl(*(u32 *)(t + 4));
            x.ack = ntohl(*(u32 *)(t + 8));
            x.fl = t[13];
            x.payload = x.len - 20 - th;
            int fwd = (t[2] << 8 | t[3]) == 5001;
            x.port = fwd ? t[0] << 8 | t[1] : t[2] << 8 | t[3];
            x.dev = dev;
            x.dir = dir;
            for (int o = 20; o + 1 < th && o < 60;) {
                if (t[o] == 1) {
                    o++;
                    continue;
                }
                if (!t[o] || !t[o + 1])
                    break;
                if (t[o] == 5)
                    x.nsack = (t[o + 1] - 2) / 8;
                o += t[o + 1];
            }
            /* data at r1a arriving and at r1b leaving; ACKs (if wanted) at r1a leaving */
            if (fwd ? dev == dir : acks && dev == 0 && dir)
                fwrite(&x, sizeof x, 1, f);
        }
        h->tp_status = TP_STATUS_KERNEL;
        if (++r->i == r->n)
            r->i = 0;
    }
}
static volatile int stop;
static void onterm(int s) {
    (void)s;
    stop = 1;
}
static void capture(const char *o, u64 t0real, int acks, int ready) {
    enter("R1");
    struct ring a, b;
    ring_open(&a, "r1a");
    ring_open(&b, "r1b");
    FILE *f = out(o, ".cap");
    signal(SIGTERM, onterm);
    if (write(ready, "c", 1) < 0)
        die("pipe");
    while (!stop) {
        drain(&a, 0, f, t0real, acks);
        drain(&b, 1, f, t0real, acks);
        usleep(50000);
    }
    drain(&a, 0, f, t0real, acks);
    drain(&b, 1, f, t0real, acks);
    struct tpacket_stats s, s2;
    socklen_t n = sizeof s;
    getsockopt(a.fd, SOL_PACKET, PACKET_STATISTICS, &s, &n);
    n = sizeof s2;
    getsockopt(b.fd, SOL_PACKET, PACKET_STATISTICS, &s2, &n);
    if (s.tp_drops + s2.tp_drops)
        printf("lab: CAPTURE LOST %u records\n", s.tp_drops + s2.tp_drops);
    fclose(f);
    _exit(0);
}

/* --------------------------------------------------------------- trace points -- */
static void put(const char *p, const char *v) {
    int f = open(p, O_WRONLY);
    if (f < 0 || write(f, v, strlen(v)) < 0)
        fprintf(stderr, "lab: cannot write %s: %s\n", p, strerror(errno));
    if (f >= 0)
        close(f);
}
static u32 hexs(const char *l, const char *k) {
    const char *s = strstr(l, k);
    return s ? strtoul(s + strlen(k), 0, 0) : 0;
}
static void tracer(const char *o, double t0mono, int probe, int ready) {
    const char *T = "/sys/kernel/tracing";
    char p[256];
#define P(x) (snprintf(p, sizeof p, "%s/%s", T, x), p)
    put(P("trace_clock"), "mono");
    put(P("buffer_size_kb"), "16384");
    put(P("options/irq-info"), "0");
    put(P("events/tcp/tcp_cong_state_set/enable"), "1");
    put(P("events/tcp/tcp_retransmit_skb/filter"), "dport==5001");
    put(P("events/tcp/tcp_retransmit_skb/enable"), "1");
    if (probe) {
        put(P("events/tcp/tcp_probe/filter"), "dport==5001");
        put(P("events/tcp/tcp_probe/enable"), "1");
    }
    int f = open(P("trace_pipe"), O_RDONLY | O_NONBLOCK);
    FILE *e = out(o, ".ev.csv"), *q = probe ? out(o, ".probe.csv") : 0;
    fprintf(e, "t,port,event,value\n");
    if (q)
        fprintf(q, "t,port,data_len,snd_nxt,snd_una,cwnd,ssthresh,snd_wnd,srtt_us\n");
    signal(SIGTERM, onterm);
    if (write(ready, "t", 1) < 0)
        die("pipe");
    static char b[1 << 16];
    int have = 0;
    static u32 base[65536];
    static u8 seen[65536];
    static const char *st[] = {"open", "disorder", "cwr", "recovery", "loss"};
    for (int last = 0;;) {
        int n = f < 0 ? -1 : read(f, b + have, sizeof b - 1 - have);
        if (n <= 0) {
            if (last || f < 0)
                break;
            if (stop) {
                last = 1;
                continue;
            }
            usleep(20000);
            continue;
        }
        have += n;
        b[have] = 0;
        char *l = b, *nl;
        while ((nl = strchr(l, '\n'))) {
            *nl = 0;
            char *c = strstr(l, ": tcp_");
            double t = 0;
            if (c) {
                char *s = c;
                while (s > l && s[-1] != ' ')
                    s--;
                t = atof(s) - t0mono;
            }
            if (c && strstr(c, "tcp_probe:")) {
                const char *src = strstr(c, "src=");
                const char *col = src ? strchr(src, ':') : 0;
                u16 pt = col ? atoi(col + 1) : 0;
                if (!seen[pt]) {
                    seen[pt] = 1;
                    base[pt] = hexs(c, "snd_una=");
                }
                if (q)
                    fprintf(q, "%.6f,%d,%u,%u,%u,%u,%u,%u,%u\n", t, pt, hexs(c, "data_len="),
                            hexs(c, "snd_nxt=") - base[pt], hexs(c, "snd_una=") - base[pt], hexs(c, "snd_cwnd="),
                            hexs(c, "ssthresh="), hexs(c, "snd_wnd="), hexs(c, " srtt="));
            } else if (c && strstr(c, "tcp_cong_state_set:")) {
                u32 v = hexs(c, "cong_state=");
                if (hexs(c, "dport=") == 5001)
                    fprintf(e, "%.6f,%u,state,%s\n", t, hexs(c, "sport="), v < 5 ? st[v] : "?");
            } else if (c && strstr(c, "tcp_retransmit_skb:"))
                fprintf(e, "%.6f,%u,retransmit,1\n", t, hexs(c, "sport="));
            l = nl + 1;
        }
        have -= l - b;
        memmove(b, l, have);
    }
    fclose(e);
    if (q)
        fclose(q);
    _exit(0);
}

/* ------------------------------------------------------------------ counters --- */
static void nstat(FILE *f, const char *nsname) {
    enter(nsname);
    const char *fn[] = {"/proc/net/netstat", "/proc/net/snmp"};
    for (int k = 0; k < 2; k++) {
        FILE *p = fopen(fn[k], "r");
        static char h[32768], v[32768];
        if (!p)
            continue;
        while (fgets(h, sizeof h, p) && fgets(v, sizeof v, p)) {
            char *sh, *sv, *a = strtok_r(h, " \n", &sh), *b = strtok_r(v, " \n", &sv);
            char pre[32];
            snprintf(pre, sizeof pre, "%s", a);
            if (strchr(pre, ':'))
                *strchr(pre, ':') = 0;
            while ((a = strtok_r(0, " \n", &sh)) && (b = strtok_r(0, " \n", &sv)))
                if (strcmp(b, "0"))
                    fprintf(f, "%s,%s%s,%s\n", nsname, pre, a, b);
        }
        fclose(p);
    }
}

/* ------------------------------------------------------------ sender, receiver - */
static void receiver(int ready) {
    enter("B");
    int l = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    setsockopt(l, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(5001)};
    if (strstr(opt("cc", ""), "dctcp"))
        setsockopt(l, IPPROTO_TCP, TCP_CONGESTION, "dctcp", 5); /* else Linux refuses ECN for a SYN with ECT */
    if (bind(l, (void *)&a, sizeof a) || listen(l, 128))
        die("listen");
    int e = epoll_create1(0);
    struct epoll_event ev = {.events = EPOLLIN, .data.fd = l};
    epoll_ctl(e, EPOLL_CTL_ADD, l, &ev);
    static char b[1 << 20];
    if (write(ready, "r", 1) < 0)
        die("pipe");
    for (;;) {
        struct epoll_event v[MAXF];
        int n = epoll_wait(e, v, MAXF, -1);
        for (int i = 0; i < n; i++)
            if (v[i].data.fd == l) {
                int c = accept4(l, 0, 0, SOCK_NONBLOCK);
                ev.data.fd = c;
                epoll_ctl(e, EPOLL_CTL_ADD, c, &ev);
            } else
                while (1) {
                    ssize_t r = read(v[i].data.fd, b, sizeof b);
                    if (r == 0) {
                        close(v[i].data.fd);
                        break;
                    }
                    if (r < 0)
                        break;
                }
    }
}
static void nth(const char *list, int i, char *o, size_t n) /* i-th item of a comma list, cyclic */
{
    int k = 1;
    for (const char *s = list; *s; s++)
        k += *s == ',';
    i %= k;
    const char *s = list;
    while (i--)
        s = strchr(s, ',') + 1;
    size_t l = strcspn(s, ",");
    if (l >= n)
        l = n - 1;
    memcpy(o, s, l);
    o[l] = 0;
}
static double nth_number(const char *k, int i) {
    char v[32];
    nth(opt(k, "0"), i, v, sizeof v);
    return atof(v);
}
static int run(const char *o) {
    int nf = num("flows", 1);
    double secs = num("secs", 30), dt = num("dt", 10) / 1e3, shift = num("shift", 0);
    u64 bytes[MAXF], sent[MAXF] = {0};
    int s[MAXF], begun[MAXF] = {0};
    double start[MAXF], fct[MAXF];
    if (nf > MAXF)
        nf = MAXF;
    for (int i = 0; i < nf; i++) {
        start[i] = nth_number("start", i);
        bytes[i] = nth_number("bytes", i);
        fct[i] = -1;
    }
    prctl(PR_SET_TIMERSLACK, 1ul);
    signal(SIGPIPE, SIG_IGN);
    int pp[2];
    char c;
    if (pipe(pp))
        die("pipe");
    pid_t kid[4];
    int nk = 0;
    fflush(stdout);
    if (!(kid[nk++] = fork())) {
        receiver(pp[1]);
        _exit(0);
    }
    if (read(pp[0], &c, 1) < 1)
        die("receiver");
    /* t = 0, at the same time after a tick whatever the guest's settings take; shift [us] moves it against the ticks. */
    double base = BASE + shift / 1e6, wait = base - ns(CLOCK_MONOTONIC) / 1e9;
    if (wait < .05)
        die("the guest's settings took too long");
    u64 basereal = ns(CLOCK_REALTIME) + (u64)(wait * 1e9);
    if (num("cap", 1) > 0) {
        if (!(kid[nk++] = fork()))
            capture(o, basereal, num("acks", 0), pp[1]);
        if (read(pp[0], &c, 1) < 1)
            die("capture");
    }
    if (num("trace", 1) > 0) {
        if (!(kid[nk++] = fork()))
            tracer(o, base, num("probe", 0) > 0, pp[1]);
        if (read(pp[0], &c, 1) < 1)
            die("tracer");
    }
    const char *evs = opt("ev", ""); /* ev=T,cmd+with+plus;T2,cmd2 */
    if (*evs && !fork()) {
        char b[2048];
        snprintf(b, sizeof b, "%s", evs);
        char *sv;
        for (char *p = strtok_r(b, ";", &sv); p; p = strtok_r(0, ";", &sv)) {
            double t = atof(p);
            char *cmd = strchr(p, ',');
            if (!cmd)
                continue;
            for (char *q = ++cmd; *q; q++)
                if (*q == '+')
                    *q = ' ';
            double w = base + t - ns(CLOCK_MONOTONIC) / 1e9;
            if (w > 0)
                usleep(w * 1e6);
            int rc = system(cmd);
            printf("event t=%.3f rc=%d %s\n", ns(CLOCK_MONOTONIC) / 1e9 - base, rc, cmd);
            fflush(stdout);
        }
        _exit(0);
    }
    enter("A");
    FILE *f = out(o, ".info.csv");
    static char data[65536];
    double nxt = 0;
    fprintf(f, "t,flow,cwnd,ssthresh,srtt_us,rttvar_us,rto_us,unacked,sacked,lost,retrans,total_retrans,ca,backoff,"
               "bytes_acked,delivered,delivered_ce,pacing_Bps,min_rtt_us,reordering,snd_wnd,c0,c1,c2,c3,c4\n");
    {
        double w = base - ns(CLOCK_MONOTONIC) / 1e9;
        if (w > 0)
            usleep(w * 1e6);
    }
    int ep = epoll_create1(0);
    char ccs[512];
    snprintf(ccs, sizeof ccs, "%s", opt("cc", "cubic"));
    for (;;) {
        double t = ns(CLOCK_MONOTONIC) / 1e9 - base;
        for (int i = 0; i < nf; i++) {
            if (begun[i] || t < start[i])
                continue;
            begun[i] = 1;
            char cc[32], to[32];
            nth(ccs, i, cc, sizeof cc);
            s[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
            if (setsockopt(s[i], IPPROTO_TCP, TCP_CONGESTION, cc, strlen(cc)))
                die(cc);
            struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(40001 + i)};
            inet_pton(AF_INET, "10.1.0.1", &a.sin_addr);
            if (bind(s[i], (void *)&a, sizeof a))
                die("bind");
            u32 pace = num("pace", 0);
            if (pace)
                setsockopt(s[i], SOL_SOCKET, 47 /* SO_MAX_PACING_RATE */, &pace, sizeof pace);
            a.sin_port = htons(5001);
            snprintf(to, sizeof to, "10.3.0.%d", 1 + (int)nth_number("group", i));
            inet_pton(AF_INET, to, &a.sin_addr);
            connect(s[i], (void *)&a, sizeof a);
            struct epoll_event ev = {.events = EPOLLOUT | EPOLLET, .data.u32 = i};
            epoll_ctl(ep, EPOLL_CTL_ADD, s[i], &ev);
        }
        if (t >= nxt) {
            for (int i = 0; i < nf; i++) {
                struct tcp_info n = {0};
                socklen_t l = sizeof n;
                if (!begun[i] || getsockopt(s[i], IPPROTO_TCP, TCP_INFO, &n, &l))
                    continue;
                u32 w[5] = {0};
                l = sizeof w;
                getsockopt(s[i], IPPROTO_TCP, TCP_CC_INFO, w, &l);
                if (bytes[i] && fct[i] < 0 && n.tcpi_bytes_acked > bytes[i]) /* it counts the SYN too */
                    fct[i] = t - n.tcpi_last_ack_recv / 1e3;
                fprintf(f, "%.3f,%d,%u,%u,%u,%u,%u,%u,%u,%u,%u,%u,%u,%u,%llu,%u,%u,%llu,%u,%u,%u,%u,%u,%u,%u,%u\n", t,
                        i, n.tcpi_snd_cwnd, n.tcpi_snd_ssthresh, n.tcpi_rtt, n.tcpi_rttvar, n.tcpi_rto, n.tcpi_unacked,
                        n.tcpi_sacked, n.tcpi_lost, n.tcpi_retrans, n.tcpi_total_retrans, n.tcpi_ca_state,
                        n.tcpi_backoff, (unsigned long long)n.tcpi_bytes_acked, n.tcpi_delivered, n.tcpi_delivered_ce,
                        (unsigned long long)n.tcpi_pacing_rate, n.tcpi_min_rtt, n.tcpi_reordering, n.tcpi_snd_wnd, w[0],
                        w[1], w[2], w[3], w[4]);
            }
            nxt += dt;
            if (t > secs)
                break;
        }
        double due = nxt;
        for (int i = 0; i < nf; i++)
            if (!begun[i] && start[i] < due)
                due = start[i];
        struct epoll_event v[MAXF];
        struct timespec ts;
        double w = due - (ns(CLOCK_MONOTONIC) / 1e9 - base);
        if (w < 0)
            w = 0;
        ts.tv_sec = w;
        ts.tv_nsec = (w - ts.tv_sec) * 1e9;
        int n = epoll_pwait2(ep, v, MAXF, &ts, 0);
        for (int k = 0; k < n; k++) {
            int i = v[k].data.u32;
            for (;;) {
                size_t m = sizeof data;
                if (bytes[i]) {
                    if (sent[i] >= bytes[i])
                        break;
                    if (bytes[i] - sent[i] < m)
                        m = bytes[i] - sent[i];
                }
                ssize_t r = send(s[i], data, m, MSG_NOSIGNAL);
                if (r <= 0)
                    break;
                sent[i] += r;
            }
        }
    }
    fclose(f);
    f = out(o, ".nstat.csv");
    fprintf(f, "ns,counter,value\n");
    nstat(f, "A");
    nstat(f, "B");
    fclose(f);
    for (int i = 0; i < nf; i++)
        if (bytes[i])
            printf("finish flow=%d t=%.3f\n", i, fct[i]);
    for (int i = 1; i < nk; i++)
        kill(kid[i], SIGTERM);
    for (int i = 1; i < nk; i++)
        waitpid(kid[i], 0, 0);
    kill(kid[0], SIGKILL);
    printf("lab: end t=%.3f\n", ns(CLOCK_MONOTONIC) / 1e9 - base);
    return 0;
}

/* -------------------------------------------------------------- middle box ----- */
/* drop=5,17,100-104    drop the n-th data packets (from 1, counted over all data packets of all flows that reach the box)
 * syn=1                SYNs count as data packets too
 * segdrop=100x2,150    drop the first 2 transmissions of data segment 100 (from 1 by sequence number, per flow), the
 *                      first of segment 150
 * every=N              drop every N-th data packet
 * mark=... markevery=N set CE (if ECT) instead
 * hold=100:5           hold the 100th data packet back until 5 further data packets have passed (reordering)
 * ackdrop=... ackevery=N   drop pure ACKs of the reverse direction */
static int listed(const char *l, u64 n) {
    while (*l) {
        char *e;
        u64 a = strtoull(l, &e, 10), b = a;
        if (*e == '-')
            b = strtoull(e + 1, &e, 10);
        if (n >= a && n <= b)
            return 1;
        l = *e == ',' ? e + 1 : e + strlen(e);
    }
    return 0;
}
static u64 segtimes(const char *l, u64 n) {
    while (*l) {
        char *e;
        u64 a = strtoull(l, &e, 10), k = 1;
        if (*e == 'x')
            k = strtoull(e + 1, &e, 10);
        if (n == a)
            return k;
        l = *e == ',' ? e + 1 : e + strlen(e);
    }
    return 0;
}
static int tun(const char *nsn, const char *dev) {
    enter(nsn);
    int f = open("/dev/net/tun", O_RDWR | O_NONBLOCK);
    struct ifreq r = {0};
    r.ifr_flags = IFF_TUN | IFF_NO_PI;
    strcpy(r.ifr_name, dev);
    if (f < 0 || ioctl(f, TUNSETIFF, &r))
        die("tun");
    return f;
}
static int wire(void) {
    int a = tun("R2", "w0"), b = tun("R3", "w1");
    u64 nd = 0, na = 0, nh = 0, hk = 0, hleft = 0;
    ssize_t hn = 0;
    static u8 k[65536], hb[65536];
    static u32 isn[MAXF];
    static u16 mss[MAXF];
    static u8 sent[MAXF][4096];
    const char *dl = opt("drop", ""), *sd = opt("segdrop", ""), *ml = opt("mark", ""), *al = opt("ackdrop", ""),
               *hl = opt("hold", "");
    u64 ev = num("every", 0), me = num("markevery", 0), ae = num("ackevery", 0);
    int syns = num("syn", 0) > 0;
    if (*hl) {
        char *e;
        nh = strtoull(hl, &e, 10);
        hk = *e == ':' ? strtoull(e + 1, 0, 10) : 1;
    }
    struct pollfd p[2] = {{a, POLLIN, 0}, {b, POLLIN, 0}};
    fflush(stdout);
    if (fork())
        return 0;
    for (;;) {
        poll(p, 2, -1);
        for (int d = 0; d < 2; d++)
            for (;;) {
                ssize_t n = read(p[d].fd, k, sizeof k);
                if (n <= 0)
                    break;
                int data = 0;
                if (n >= 40 && k[9] == 6) {
                    int ih = (k[0] & 15) * 4;
                    u8 *t = k + ih;
                    int pl = n - ih - (t[12] >> 4) * 4;
                    if (!d && !pl && syns && (t[13] & 0x12) == 2) {
                        if (listed(dl, ++nd))
                            continue;
                    } else if (!d && pl > 0) {
                        data = 1;
                        nd++;
                        int fl = ((t[0] << 8 | t[1]) - 40001) & (MAXF - 1);
                        u32 sq = ntohl(*(u32 *)(t + 4));
                        if (!mss[fl]) {
                            mss[fl] = pl;
                            isn[fl] = sq;
                        }
                        u32 sg = (sq - isn[fl]) / mss[fl] + 1;
                        if (sg < 4096 && sent[fl][sg]++ < segtimes(sd, sg))
                            continue;
                        if (listed(dl, nd) || (ev && nd % ev == 0))
                            continue;
                        if ((listed(ml, nd) || (me && nd % me == 0)) && (k[1] & 3)) {
                            k[1] |= 3;
                            k[10] = k[11] = 0;
                            u32 s = 0;
                            for (int i = 0; i < ih; i += 2)
                                s += k[i] << 8 | k[i + 1];
                            while (s >> 16)
                                s = (s & 65535) + (s >> 16);
                            s = ~s;
                            k[10] = s >> 8;
                            k[11] = s;
                        }
                        if (nh && nd == nh) {
                            memcpy(hb, k, n);
                            hn = n;
                            hleft = hk;
                            continue;
                        }
                    } else if (d && !pl) {
                        na++;
                        if (listed(al, na) || (ae && na % ae == 0))
                            continue;
                    }
                }
                if (write(p[!d].fd, k, n) < 0) {
                }
                if (data && hn && hleft && !--hleft) {
                    if (write(b, hb, hn) < 0) {
                    }
                    hn = 0;
                }
            }
    }
}

/* ----------------------------------------------------------------- analysis ---- */
static int dcmp(const void *a, const void *b) {
    double x = *(double *)a, y = *(double *)b;
    return x < y ? -1 : x > y;
}
static int analyse(const char *o) {
    char p[512];
    snprintf(p, sizeof p, "%s.cap", o);
    FILE *f = fopen(p, "r");
    if (!f)
        die(p);
    double rate = num("rate", 1e7), svc = num("svc", 0), warm = num("warm", 0), end = num("secs", 1e9), dt = .01;
    fseek(f, 0, SEEK_END);
    long N = ftell(f) / sizeof(struct rec);
    rewind(f);
    struct rec *r = malloc(N * sizeof *r + 1);
    if (fread(r, sizeof *r, N, f) != (size_t)N)
        die("read");
    fclose(f);
    /* the two rings were drained alternately: restore time order, arrivals before departures at equal times */
    long na = 0;
    struct rec *A = malloc(N * sizeof *r + 1), *D = malloc(N * sizeof *r + 1);
    long nd = 0;
    for (long i = 0; i < N; i++)
        if (r[i].dev == 0 && !r[i].dir)
            A[na++] = r[i];
        else if (r[i].dev == 1)
            D[nd++] = r[i];
    double *dep = malloc((na + 1) * 8);
    int32_t *last = malloc(sizeof(int32_t) << 22);
    long *head = calloc(MAXF, sizeof *head);
    (void)head;
    for (long i = 0; i < na; i++)
        dep[i] = -1;
    memset(last, 255, sizeof(int32_t) << 22);
    long ai = 0, un = 0;
    double *q = malloc((nd + 1) * 8);
    long nq = 0;
    u64 by = 0;
    long marks = 0, nm = 0;
#define KEY(x) (((u32)((x).port - 40001) & 63) << 16 | (x).id)
    for (long i = 0; i < nd; i++) {
        while (ai < na && A[ai].t <= D[i].t) {
            last[KEY(A[ai])] = ai;
            ai++;
        }
        int32_t k = last[KEY(D[i])];
        if (k < 0 || dep[k] >= 0 || A[k].seq != D[i].seq) {
            un++;
            continue;
        }
        dep[k] = D[i].t / 1e9;
        if ((D[i].tos & 3) == 3 && (A[k].tos & 3) != 3) {
            A[k].fl |= 0x80;
            marks++;
        }
        if (D[i].t / 1e9 >= warm && D[i].t / 1e9 < end) {
            q[nq++] = (D[i].t - A[k].t) / 1e6 - (svc ? D[i].len * 8e3 / rate : 0);
            by += D[i].len;
            nm += (D[i].tos & 3) == 3 && (A[k].fl & 0x80);
        }
    }
    /* a packet was dropped iff a later arrival of the same flow departed */
    u32 isn[64];
    u8 hi[64] = {0};
    for (long i = 0; i < na; i++) {
        int k = (A[i].port - 40001) & 63;
        if (A[i].payload && !hi[k]) {
            hi[k] = 1;
            isn[k] = A[i].seq;
        }
    }
    double fl[64];
    for (int i = 0; i < 64; i++)
        fl[i] = -1;
    long drops = 0, bare = 0, dw = 0, aw = 0, adata = 0;
    u8 *isd = calloc(na + 1, 1);
    for (long i = na - 1; i >= 0; i--) {
        int k = (A[i].port - 40001) & 63;
        double t = A[i].t / 1e9;
        adata++;
        if (t >= warm && t < end)
            aw++;
        if (dep[i] >= 0)
            fl[k] = 1;
        else if (fl[k] > 0) {
            drops++;
            bare += !A[i].payload;
            isd[i] = 1;
            if (t >= warm && t < end)
                dw++;
        }
    }
    qsort(q, nq, 8, dcmp);
    double m = 0;
    for (long i = 0; i < nq; i++)
        m += q[i];
    if (nq)
        m /= nq;
#define PC(x) (nq ? q[(long)((x) * (nq - 1))] : 0)
    double T = (end < 1e8 ? end : (na ? A[na - 1].t / 1e9 : 1)) - warm;
    printf("arr=%ld dep=%ld drops=%ld bare_drops=%ld marks=%ld unmatched=%ld w_arr=%ld w_drops=%ld w_marks=%ld "
           "w_mbps=%.5f w_util=%.5f q_mean_ms=%.4f q_p50_ms=%.4f q_p95_ms=%.4f q_p99_ms=%.4f q_max_ms=%.4f\n",
           adata, nd, drops, bare, marks, un, aw, dw, nm, by * 8 / T / 1e6, by * 8 / T / rate, m, PC(.5), PC(.95),
           PC(.99), PC(1));
    f = out(o, ".queue.csv");
    fprintf(f, "t,queue_pkts,drops_cum,marks_cum\n");
    long *in = calloc(1 << 20, sizeof(long)), *de = calloc(1 << 20, sizeof(long)), *dr = calloc(1 << 20, sizeof(long)),
         *mk = calloc(1 << 20, sizeof(long));
    long mx = 0;
#define BIN(t) ((long)((t) / dt) < 0 ? 0 : (long)((t) / dt) + 1 > (1 << 20) - 1 ? (1 << 20) - 1 : (long)((t) / dt) + 1)
    for (long i = 0; i < na; i++) {
        long k = BIN(A[i].t / 1e9);
        if (k > mx)
            mx = k;
        if (isd[i])
            dr[k]++;
        else if (dep[i] >= 0) {
            in[k]++;
            de[BIN(dep[i])]++;
            if (A[i].fl & 0x80)
                mk[k]++;
        }
    }
    long ql = 0, dc = 0, mc = 0;
    for (long k = 0; k <= mx; k++) {
        ql += in[k] - de[k];
        dc += dr[k];
        mc += mk[k];
        fprintf(f, "%.2f,%ld,%ld,%ld\n", k * dt, ql, dc, mc);
    }
    fclose(f);
    f = out(o, ".drops.csv");
    fprintf(f, "t,flow,seq,len\n");
    for (long i = 0; i < na; i++)
        if (isd[i])
            fprintf(f, "%.6f,%d,%u,%u\n", A[i].t / 1e9, A[i].port - 40001, A[i].seq - isn[(A[i].port - 40001) & 63],
                    A[i].len);
    fclose(f);
    return 0;
}
static int seed(unsigned x) {
    struct {
        int ent, size;
        u8 b[64];
    } s = {512, 64, {0}};
    x = x * 2654435761u + 1;
    for (int i = 0; i < 64; i++) {
        x = x * 1664525u + 1013904223u;
        s.b[i] = x >> 24;
    }
    int f = open("/dev/urandom", O_RDWR);
    return f < 0 || ioctl(f, RNDADDENTROPY, &s) < 0 || ioctl(f, RNDRESEEDCRNG) < 0;
}
int main(int c, char **v) {
    AC = c;
    AV = v;
    if (c < 2) {
        fprintf(stderr, "usage: lab seed|halt|run|wire|analyse ...\n");
        return 2;
    }
    if (!strcmp(v[1], "halt")) {
        sync();
        reboot(RB_POWER_OFF);
        return 0;
    }
    if (!strcmp(v[1], "seed"))
        return seed(c > 2 ? atoi(v[2]) : 1);
    if (!strcmp(v[1], "wire"))
        return wire();
    if (!strcmp(v[1], "run") && c > 2)
        return run(v[2]);
    if (!strcmp(v[1], "analyse") && c > 2)
        return analyse(v[2]);
    return 2;
}
