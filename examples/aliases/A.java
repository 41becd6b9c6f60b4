// Figure 5.2 as printed.
class A {
   B b1, b2;
   A(int x, int y) { b1 = new B(x); b2 = new B(y);}
   public static void main(String[] args) {
       A tmp = null;
       A a1 = new A(1,1);
       A a3 = a1;
       A a2 = new A(2,2);

       a3.b1.x = 10;
       updateAs10(a1);
       tmp = a1;           // swap a1 and a2
       a1 = a2;
       a2 = tmp;
       updateAs10(a2);
   }
   static void updateAs10(A a) {
       a.b1.x = 10; a.b2.x = 10;
   }
}
class B {
   int x;
   B(int x) { this.x = x;}
}
