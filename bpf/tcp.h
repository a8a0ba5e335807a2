/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * TCP small queues: tcp_write_xmit sets TSQ_THROTTLED, tcp_wfree turns it into
 * TSQ_QUEUED, the TSQ handler or tcp_release_cb resumes the socket. Records
 * are written only when a flag changes, or should have.
 */

struct tx_sock {
	__u64 birth;
	__u64 begun; /* tcp_wfree calls begun */
	__u64 done; /* and done */
	__u64 freed; /* truesize handed to them */
	__u64 freed_begin; /* when the tcp_write_xmit under way began */
	__u64 begin;
	__u32 wmem_begin;
	__u32 limit_begin; /* sysctl_tcp_limit_output_bytes */
	__u8 tsq_begin;
	__u8 overlap;
	__u8 writing;
	__u8 valid;
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct tx_sock);
} socks SEC(".maps");

static __always_inline __u32 sk_limit_output(struct sock *sk)
{
	return sk->__sk_common.skc_net.net->ipv4.sysctl_tcp_limit_output_bytes;
}

static __always_inline __u32 sk_tx_delay(struct sock *sk)
{
	__u32 delay = 0;

	bpf_probe_read_kernel(&delay, sizeof(delay),
			      (void *)sk +
				      bpf_core_field_offset(struct tcp_sock,
							    tcp_tx_delay));
	return delay;
}

/* What waits for its acknowledgement. */
static __always_inline __u8 sk_rtx(struct sock *sk)
{
	struct rb_node *root = sk->tcp_rtx_queue.rb_node;

	if (!root)
		return TX_RTX_EMPTY;
	return root->rb_left || root->rb_right ? TX_RTX_MORE : TX_RTX_ONE;
}

/* What the limit of a throttle or transmit record comes from. */
#define tx_read_limit(r, sk)                                 \
	({                                                   \
		(r)->limit_sysctl = sk_limit_output(sk);     \
		(r)->pacing_rate = (sk)->sk_pacing_rate;     \
		(r)->pacing_status = (sk)->sk_pacing_status; \
		(r)->pacing_shift = (sk)->sk_pacing_shift;   \
		(r)->tx_delay = sk_tx_delay(sk);             \
		(r)->rtx = sk_rtx(sk);                       \
	})

SEC("fentry/tcp_write_xmit")
int BPF_PROG(write_begin, struct sock *sk)
{
	struct tx_cpu *c = tx_enter(TX_PROG_write_begin);
	struct tx_sock *s;

	if (!c)
		return 0;
	if (!sock_wanted(c, sk))
		return tx_filtered(c, TX_PROG_write_begin);
	s = bpf_sk_storage_get(&socks, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	if (!s) {
		c->count[TX_PROG_write_begin].lost++;
		return 0;
	}
	s->begin = bpf_ktime_get_ns();
	if (!s->birth)
		s->birth = s->begin;
	s->freed_begin = s->freed;
	s->overlap = s->begun != s->done;
	s->tsq_begin = sk->sk_tsq_flags;
	s->wmem_begin = sk->sk_wmem_alloc.refs.counter;
	s->limit_begin = sk_limit_output(sk);
	s->writing = 1;
	s->valid = 1;
	return tx_noted(c, TX_PROG_write_begin);
}

SEC("fexit/tcp_write_xmit")
int BPF_PROG(write_end, struct sock *sk)
{
	struct tx_cpu *c = tx_enter(TX_PROG_write_end);
	struct tx_stack_sum none = {};
	struct tx_throttle *r;
	struct tx_sock *s;
	__u8 tsq, valid;
	int at;

	if (!c)
		return 0;
	if (!sock_wanted(c, sk))
		return tx_filtered(c, TX_PROG_write_end);
	s = bpf_sk_storage_get(&socks, sk, 0, 0);
	if (!s)
		return tx_filtered(c, TX_PROG_write_end);
	valid = s->valid;
	s->writing = 0;
	s->valid = 0;
	tsq = sk->sk_tsq_flags;
	/* New: no THROTTLED at the begin, and it, or a QUEUED made of it by
	 * another CPU meanwhile, at the end.
	 */
	if (!valid || s->tsq_begin & TSQ_THROTTLED ||
	    !(tsq & TSQ_THROTTLED ||
	      (tsq & TSQ_QUEUED && !(s->tsq_begin & TSQ_QUEUED))))
		return tx_filtered(c, TX_PROG_write_end);

	if (stack_wanted(TX_MOMENT_throttle))
		stack_add(ctx, TX_MOMENT_throttle, &none);
	at = tx_frame_push(c, TX_FRAME_RECORD, NULL, 0);
	tx_frame_at(c, at)->begin = s->begin;
	r = &tx_frame_at(c, at)->throttle;
	tx_clear(*r);
	r->h.txq = TX_NO_QUEUE;
	r->h.netns = sk_netns(sk);
	r->sock = tx_address(c, TX_PROG_write_end, sk);
	r->birth = s->birth;
	r->wmem_begin = s->wmem_begin;
	r->wmem_end = sk->sk_wmem_alloc.refs.counter;
	/* Read after wmem: a free counted too late is an undecided instance,
	 * one counted too early would be a wrong one.
	 */
	r->freed = s->freed - s->freed_begin;
	tx_read_limit(r, sk);
	/* Which limit was compared with is not known where it changed. */
	r->overlap = s->overlap || r->limit_sysctl != s->limit_begin;
	r->tsq_begin = s->tsq_begin;
	r->tsq_end = tsq;
	r->queue_empty = !sk->sk_write_queue.qlen;
	if (!r->queue_empty)
		r->truesize = sk->sk_write_queue.next->truesize;
	return tx_emit(TX_PROG_write_end, at, TX_THROTTLE, sizeof(*r));
}

SEC("fentry/tcp_wfree")
int BPF_PROG(wfree_begin, struct sk_buff *skb)
{
	struct tx_cpu *c = tx_enter(TX_PROG_wfree_begin);
	struct sock *sk = skb->sk;
	struct tx_wfree *r;
	struct tx_frame *f;
	struct tx_sock *s;

	if (!c)
		return 0;
	/* Sockets get their state in tcp_write_xmit. */
	s = bpf_sk_storage_get(&socks, sk, 0, 0);
	if (!s)
		return tx_filtered(c, TX_PROG_wfree_begin);
	f = tx_frame_at(c, tx_frame_push(c, TX_FRAME_WFREE, skb,
					 bpf_ktime_get_ns()));
	r = &f->wfree;
	tx_clear(*r);
	r->truesize = skb->truesize;
	r->overlap = s->begun != s->done || s->writing;
	f->begun = __sync_fetch_and_add(&s->begun, 1);
	__sync_fetch_and_add(&s->freed, r->truesize);
	r->birth = s->birth;
	r->wmem_begin = sk->sk_wmem_alloc.refs.counter;
	r->tsq_begin = sk->sk_tsq_flags;
	return tx_noted(c, TX_PROG_wfree_begin);
}

/* Whether a tcp_wfree that ends is worth a record; fills the record in. */
static __always_inline bool wfree_tells(struct tx_frame *f, struct sock *sk)
{
	struct tx_wfree *r = &f->wfree;
	struct tx_sock *s;

	/* With its last reference gone the socket may be another's by now. */
	if (r->wmem_begin == r->truesize)
		return false;
	s = bpf_sk_storage_get(&socks, sk, 0, 0);
	if (!s || s->birth != r->birth)
		return false;
	__sync_fetch_and_add(&s->done, 1);
	if (!(r->tsq_begin & TSQ_THROTTLED) || r->tsq_begin & TSQ_QUEUED)
		return false;
	r->tsq_end = sk->sk_tsq_flags;
	r->wmem_end = sk->sk_wmem_alloc.refs.counter;
	r->ksoftirqd = tx_ksoftirqd();
	/* ksoftirqd leaves a socket alone while skbs of it are in flight. */
	if (r->ksoftirqd && r->tsq_end == r->tsq_begin &&
	    r->wmem_begin - r->truesize + 1 >= config.skb_truesize)
		return false;
	if (s->begun != f->begun + 1 || s->writing)
		r->overlap = 1;
	return true;
}

SEC("fexit/tcp_wfree")
int BPF_PROG(wfree_end, struct sk_buff *skb)
{
	struct tx_cpu *c = tx_enter(TX_PROG_wfree_end);
	struct sock *sk = skb->sk;
	struct tx_frame *f;
	struct tx_wfree *r;
	int at;

	if (!c)
		return 0;
	at = tx_frame_find(c, TX_PROG_wfree_end, TX_FRAME_WFREE, skb);
	if (at < 0)
		return tx_filtered(c, TX_PROG_wfree_end);
	f = tx_frame_at(c, at);
	if (!wfree_tells(f, sk)) {
		tx_frame_drop(c, at);
		return tx_filtered(c, TX_PROG_wfree_end);
	}
	r = &f->wfree;
	r->h.txq = TX_NO_QUEUE;
	r->h.netns = sk_netns(sk);
	r->sock = tx_address(c, TX_PROG_wfree_end, sk);
	return tx_emit(TX_PROG_wfree_end, at, TX_WFREE, sizeof(*r));
}

static __always_inline int resume(struct tx_cpu *c, enum tx_program prog,
				  struct sock *sk, __u8 source)
{
	struct tx_resume *r;
	struct tx_sock *s;
	int at;

	s = bpf_sk_storage_get(&socks, sk, 0, 0);
	if (!s)
		return tx_filtered(c, prog);
	at = tx_frame_push(c, TX_FRAME_RECORD, NULL, 0);
	r = &tx_frame_at(c, at)->resume;
	tx_clear(*r);
	r->h.txq = TX_NO_QUEUE;
	r->h.netns = sk_netns(sk);
	r->sock = tx_address(c, prog, sk);
	r->birth = s->birth;
	r->wmem = sk->sk_wmem_alloc.refs.counter;
	r->tsq = sk->sk_tsq_flags;
	r->source = source;
	return tx_emit(prog, at, TX_RESUME, sizeof(*r));
}

/* Also the body of tcp_pace_kick, the pacing timer, which is no resume. */
SEC("fentry/tcp_tsq_handler")
int BPF_PROG(resume_handler, struct sock *sk)
{
	struct tx_cpu *c = tx_enter(TX_PROG_resume_handler);
	struct tx_frame *f;

	if (!c)
		return 0;
	f = tx_frame_top(c);
	if (f && f->type == TX_FRAME_PACE)
		return tx_filtered(c, TX_PROG_resume_handler);
	return resume(c, TX_PROG_resume_handler, sk, TX_RESUME_HANDLER);
}

SEC("fentry/tcp_release_cb")
int BPF_PROG(resume_release, struct sock *sk)
{
	struct tx_cpu *c = tx_enter(TX_PROG_resume_release);

	if (!c)
		return 0;
	if (!(sk->sk_tsq_flags & TCP_TSQ_DEFERRED))
		return tx_filtered(c, TX_PROG_resume_release);
	return resume(c, TX_PROG_resume_release, sk, TX_RESUME_RELEASE);
}

SEC("fentry/tcp_pace_kick")
int BPF_PROG(pace_begin)
{
	struct tx_cpu *c = tx_enter(TX_PROG_pace_begin);

	if (!c)
		return 0;
	tx_frame_push(c, TX_FRAME_PACE, NULL, 0);
	return tx_noted(c, TX_PROG_pace_begin);
}

SEC("fexit/tcp_pace_kick")
int BPF_PROG(pace_end)
{
	struct tx_cpu *c = tx_enter(TX_PROG_pace_end);
	int at;

	if (!c)
		return 0;
	at = tx_frame_find(c, TX_PROG_pace_end, TX_FRAME_PACE, NULL);
	if (at < 0)
		return tx_filtered(c, TX_PROG_pace_end);
	tx_frame_drop(c, at);
	return tx_noted(c, TX_PROG_pace_end);
}
