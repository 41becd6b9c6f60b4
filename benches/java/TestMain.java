class TestMain {
   public Test t;
   TestMain() { t = new Test();}
   public static void main(String[] args) {
       int maxIter = Integer.parseInt(args[0]);
       int maxInst = Integer.parseInt(args[1]);
       (new TestMain()).t.testing(maxIter,maxInst);
   }
}

class Test{
   int monitoredX;
   public void testing(int maxIter, int maxInst) {
       for(int i=0; i < maxIter; i++) {
           for(int j=0; j < maxInst; j++) {}
           monitoredX = i;
       }
   }
}
