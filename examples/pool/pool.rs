//! A pool of three connections. A lease returns its connection to the pool when it is dropped.

use std::cell::RefCell;

struct Pool {
    idle: RefCell<Vec<u32>>,
}

struct Lease<'a> {
    pool: &'a Pool,
    connection: u32,
}

impl Pool {
    fn new() -> Pool {
        Pool { idle: RefCell::new(vec![3, 2, 1]) }
    }

    fn acquire(&self) -> u32 {
        self.idle.borrow_mut().pop().expect("a connection is idle")
    }

    fn release(&self, connection: u32) {
        self.idle.borrow_mut().push(connection);
    }

    fn lease(&self) -> Lease<'_> {
        Lease { pool: self, connection: self.acquire() }
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        self.pool.release(self.connection);
    }
}

fn query(pool: &Pool, text: &str) -> Result<usize, &'static str> {
    let lease = pool.lease();
    if text.is_empty() {
        // Too much care: the lease releases the connection as well.
        pool.release(lease.connection);
        return Err("empty query");
    }
    Ok(text.len())
}

fn main() {
    let pool = Pool::new();
    for text in ["select 1", "", "select 2"] {
        println!("{text:?}: {:?}", query(&pool, text));
    }
    let ann = pool.lease();
    let bob = pool.lease();
    println!("ann has connection {}, bob has connection {}", ann.connection, bob.connection);
}
